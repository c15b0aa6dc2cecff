"""Thompson sampling: play the arm that is best in a posterior draw."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import ThompsonShares
from hierbandits.policies.odds import DrawnOdds
from hierbandits.policies.rule import ChooseOne
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class Thompson:
    """Plays the best arms of one joint posterior draw.  [HBB, Algorithm 1]

    The tasks of a round share one draw of mu, and the events of a task share one draw of theta.
    With `fresh`, every task draws a mu of its own.
    """

    fresh: bool = False
    answers_fit: ClassVar[bool] = True

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The best arm of each event in the draw."""
        return view._viewed.best_arms(rng, nodes, arms.arrays, fresh=self.fresh, time=view._moment)

    def one(self, view: BeliefView, /) -> ChooseOne:
        """The best row of a table in a draw of one node."""
        return view._viewed.best_row

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> DrawnOdds:
        """Make so many joint draws and play one of them: an arm's odds are its share of draws."""
        best = view._viewed.best_arms(
            rng, nodes, arms.arrays, repeats=draws, fresh=self.fresh, time=view._moment
        )
        return DrawnOdds.of_rounds(best.reshape(draws, -1), rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> ThompsonShares:
        """The share of draws in which each arm is best; of a task alone, `fresh` says nothing."""
        return ThompsonShares(posteriors, draws, stream)


thompson = Thompson()
"""Thompson sampling as in the paper."""
