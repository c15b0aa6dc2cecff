"""Thompson sampling: play the arm that is best in a posterior draw."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import count, positive
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import DrawnShares, best_shares
from hierbandits.policies.odds import DrawnOdds
from hierbandits.policies.rule import ChooseOne
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class Thompson:
    """Plays the best arms of one joint posterior draw.  [HBB, Algorithm 1]

    The tasks of a round share one draw of mu, and the events of a task share one draw of theta.
    With `fresh`, every task draws a mu of its own.  Draws are `scale` times as far from their
    means as the posterior's: below 1 the rule explores less than the paper's.
    """

    fresh: bool = False
    scale: float = 1.0
    answers_fit: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.scale != 1.0:  # the check would compile a kernel, at import even
            positive("scale", self.scale, ())

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The best arm of each event in the draw."""
        return self._best(view, rng, nodes, arms, 1)

    def _raw_one(self, view: BeliefView, /) -> ChooseOne | None:
        """The best row of a table in a draw of one node."""
        return view._viewed._raw_best_row if self.scale == 1.0 else None

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> DrawnOdds:
        """Make so many joint draws and play one of them: an arm's odds are its share of draws."""
        best = self._best(view, rng, nodes, arms, count("draws", draws, least=1))
        return DrawnOdds.of_rounds(best.reshape(draws, -1), rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> DrawnShares:
        """The share of draws in which each arm is best; of a task alone, `fresh` says nothing."""
        return DrawnShares(posteriors, draws, stream, best_shares, self.scale)

    def _best(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, repeats: int
    ) -> Indices:
        """The best arm of each event in a joint draw, draw after draw."""
        return view.best_arms(rng, nodes, arms, repeats=repeats, fresh=self.fresh, scale=self.scale)


thompson = Thompson()
"""Thompson sampling as in the paper."""
