"""Thompson sampling: play the arm that is best in a posterior draw."""

from dataclasses import dataclass

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import ThompsonShares
from hierbandits.policies.odds import DrawnOdds
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class Thompson:
    """Plays the best arms of one joint posterior draw.  [HBB, Algorithm 1]

    The tasks of a round share one draw of mu, and the events of a task share one draw of theta.
    With `fresh`, every task draws a mu of its own.
    """

    fresh: bool = False

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The best arm of each event in the draw."""
        theta, slots = view._viewed.draws(rng, nodes, fresh=self.fresh, time=view._moment)
        return arms.best_under(theta, slots, rng)

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> DrawnOdds:
        """Make so many joint draws and play one of them: an arm's odds are its share of draws."""
        theta, slots = view._viewed.draws(
            rng, nodes, repeats=draws, fresh=self.fresh, time=view._moment
        )
        best = arms.repeated(draws).best_under(theta, slots, rng)
        return DrawnOdds.of_rounds(best.reshape(draws, -1), rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> ThompsonShares:
        """The share of draws in which each arm is best; of a task alone, `fresh` says nothing."""
        return ThompsonShares(posteriors, draws, stream)


thompson = Thompson()
"""Thompson sampling as in the paper."""
