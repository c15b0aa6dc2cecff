"""What a rule is: a value that chooses an arm for each event of a round, and what it may give."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from numpy.random import Generator

from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior
from hierbandits.keyed_random import Stream
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.frozen_rules import Frozen
from hierbandits.policies.odds import Odds
from hierbandits.types import Features, Indices


class Rule(Protocol):
    """Chooses among the arms of each event, from what the belief knows of the event's node.

    A plain function is a rule.  A rule that is a value may give more: with a method `odds` its
    policies have propensities (see `OddsRule`), and with a method `frozen` they can be evaluated as
    they stand after training (see `FrozenRule`).  Policies check what a rule answers, unless it
    says that its `answers_fit`, as the rules of this package do.  One that `leaves_arms_out` says
    that it gives some arms no chance.
    """

    def __call__(self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The number of the arm that each event plays, (E,)."""


class OddsRule(Rule, Protocol):
    """A rule that knows how probable its choices are."""

    def odds(
        self, view: BeliefView, rng: Generator, nodes: Indices, arms: Arms, /, *, draws: int
    ) -> Odds:
        """Choose as the rule does, and say how probable that was.

        `draws` is the number of posterior draws to make where the odds need draws.
        """


ChooseOne: TypeAlias = Callable[[NormalStock, int, Features], int]
"""From random numbers, a node and a table, whose rows are its arms, the row that it plays.

The table has the right form; numbers that are too large or none are refused.
"""


class QuickRule(Rule, Protocol):
    """A rule of this package that is quicker at one event than at a round of one."""

    def _raw_one(self, view: BeliefView, /) -> ChooseOne | None:
        """How single events are decided; None if a round of one is as quick."""


class FrozenRule(Rule, Protocol):
    """A rule whose probabilities are fixed once its belief is."""

    def frozen(self, posteriors: ArmPosteriors[Posterior], draws: int, stream: Stream, /) -> Frozen:
        """The probabilities of all arms at these posteriors; `draws` as in `OddsRule`."""


def answers_fit(rule: Rule) -> bool:
    """Whether a rule is known to answer in the right form, and never to fail."""
    return getattr(rule, "answers_fit", False) is True


def has_odds(rule: Rule) -> bool:
    """Whether a rule can say how probable its choices are."""
    return hasattr(rule, "odds")


def leaves_arms_out(rule: Rule) -> bool:
    """Whether a rule says that it gives some arms no chance at all, as greedy does.

    A log of its decisions needs a floor, or it says nothing of those arms.
    """
    return getattr(rule, "leaves_arms_out", False) is True


def quick_choice(rule: Rule, view: BeliefView) -> ChooseOne | None:
    """How a rule decides single events, if it is quicker at them; its `answers_fit`."""
    return rule._raw_one(view) if answers_fit(rule) and hasattr(rule, "_raw_one") else None


def odds_of(rule: Rule) -> Callable[..., Odds]:
    """The method `odds` of a rule; one that has none is refused."""
    return _given(rule, "odds", "propensities")


def frozen_of(rule: Rule) -> Callable[[ArmPosteriors[Posterior], int, Stream], Frozen]:
    """The method `frozen` of a rule; one that has none is refused."""
    return _given(rule, "frozen", "fixed probabilities")


def _given(rule: Rule, method: str, what: str) -> Callable[..., Any]:
    """A method that a rule may have."""
    found: Callable[..., Any] | None = getattr(rule, method, None)
    if found is None:
        raise ValueError(f"rule must have a method {method} to give {what}, got {rule!r:.80}")
    return found
