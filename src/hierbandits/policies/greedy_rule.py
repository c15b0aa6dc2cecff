"""Greedy: play the arm that looks best."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import generator
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import HighestBound
from hierbandits.policies.linked_values import mean_rewards
from hierbandits.policies.odds import BestOdds
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class Greedy:
    """Plays the arm of highest posterior mean reward."""

    answers_fit: ClassVar[bool] = True
    leaves_arms_out: ClassVar[bool] = True

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The best arm of each event at the posterior means."""
        if not view._viewed.IS_GAUSSIAN:
            return arms.best(mean_rewards(view, nodes, arms), generator("rng", rng))
        return view.best_arms(rng, nodes, arms, drawn=False)

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> BestOdds:
        """The best arm for certain, or one of those that tie; no draws are made."""
        if not view._viewed.IS_GAUSSIAN:
            return BestOdds.of_scores(mean_rewards(view, nodes, arms), arms, generator("rng", rng))
        means, slots = view.draws(None, nodes)
        fitting = view._fitting_arms(arms, slots.size)
        return BestOdds.of_scores(fitting.values(means[slots]), fitting, rng)

    def frozen(
        self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /
    ) -> HighestBound:
        """The arm of highest mean."""
        return HighestBound.of(posteriors, 0.0)


greedy = Greedy()
"""Greedy has no options."""
