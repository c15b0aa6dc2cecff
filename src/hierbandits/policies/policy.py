"""A policy: a belief and a rule, arrays in and arrays out."""

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.gaussian import Prediction
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import checked_time, count, generator, index_array, real_array
from hierbandits.policies.answers import checked_choices, checked_odds
from hierbandits.policies.arms import Arms
from hierbandits.policies.belief_view import BeliefView
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.odds import propensities_of_all
from hierbandits.policies.rule import (
    ChooseOne,
    Rule,
    answers_fit,
    has_odds,
    odds_of,
    quick_choice,
)
from hierbandits.types import Features, Indices, Vector

DRAWS = 100
"""Posterior draws for the propensities of a round, unless a caller asks for others."""


class Policy:
    """Acts in any number of tasks and runs at once, and learns from their rewards.

    `node_of` is the belief's node of each task, (tasks,).  Without it tasks are nodes.  A pooled
    policy needs it, since there all tasks of a population have one node.  `time`, where a method
    takes it, is None or the time of each event, (E,); see `Posterior`.
    """

    def __init__(
        self,
        belief: Posterior,
        rule: Rule,
        *,
        node_of: Indices | None = None,
        forced: ForcedStart | None = None,
    ) -> None:
        if not callable(rule):
            raise ValueError(f"rule must be a function or a value that is one, got {rule!r:.80}")
        self.rule = rule
        self.belief = belief
        self.forced = forced
        self._node_of = None
        if node_of is not None:
            self._node_of = belief.checked_nodes(node_of).copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _policy, (self.belief, self.rule, self._node_of, self.forced)

    @property
    def belief(self) -> Posterior:
        """What the policy knows."""
        return self._belief

    @belief.setter
    def belief(self, belief: Posterior) -> None:
        self._belief = belief
        self._view = BeliefView(belief)
        self._quick = quick_choice(self.rule, self._view)

    @property
    def answers_fit(self) -> bool:
        """Whether the rule is known to answer in the right form, and never to fail."""
        return answers_fit(self.rule)

    def act(
        self,
        rng: Generator,
        tasks: ArrayLike,
        arms: Any = None,
        eligible: Any = None,
        *,
        time: ArrayLike | None = None,
    ) -> Indices:
        """The numbers of the arms, (E,), that the tasks of one round play.

        `arms` is (K, d) for all events, (E, K, d), a sequence of sets, or None when armed; see
        `Arms.of`.  Features that `learn` would refuse are refused here.
        """
        nodes, table = self._checked_round(rng, tasks, arms, eligible)
        return self._raw_choose(rng, nodes, table, time=checked_time(time, nodes))

    def _raw_choose(
        self, rng: Generator, nodes: Indices, arms: Arms, *, time: Vector | None = None
    ) -> Indices:
        """`act` for nodes and arms that were checked before."""
        choices = self.rule(self._view_at(time), rng, nodes, arms)
        if not self.answers_fit:
            choices = checked_choices(self.rule, choices, arms)
        if self.forced is not None:
            self.forced.apply(nodes, arms, choices)
        return choices

    @property
    def _raw_choose_one(self) -> ChooseOne:
        """`_raw_choose` for one event whose arms are the rows of a table of the right form."""
        return self._round_of_one if self._quick is None or self.forced else self._quick

    def _round_of_one(self, stock: NormalStock, node: int, table: Features) -> int:
        """A round of one event."""
        belief, one = self.belief, np.array([node])
        largest = belief.largest_feature
        arms = Arms.of(table, 1, belief.dim, armed=belief.is_armed, largest=largest)
        return int(self._raw_choose(stock.rng, one, arms)[0])

    def act_with_propensities(
        self,
        rng: Generator,
        tasks: ArrayLike,
        arms: Any = None,
        eligible: Any = None,
        *,
        draws: int = DRAWS,
        floor: float = 0.0,
        time: ArrayLike | None = None,
    ) -> tuple[Indices, Vector]:
        """`act`, with the probability of each choice, for any rule that gives its odds.

        The odds of Thompson sampling are shares of `draws` joint posterior draws; other rules know
        theirs exactly.  With probability `floor` an event plays one of its K arms uniformly
        instead, so that no propensity is below floor / K.  A forced choice has propensity 1.
        """
        self.check_propensities(draws, floor)
        nodes, table = self._checked_round(rng, tasks, arms, eligible)
        times = checked_time(time, nodes)
        return self._raw_choose_with_propensities(
            rng, nodes, table, draws=draws, floor=floor, time=times
        )

    def _raw_choose_with_propensities(
        self,
        rng: Generator,
        nodes: Indices,
        arms: Arms,
        *,
        draws: int = DRAWS,
        floor: float = 0.0,
        time: Vector | None = None,
        of_all: list[list[float]] | None = None,
    ) -> tuple[Indices, Vector]:
        """`act_with_propensities` for arguments that were checked before.

        `of_all` receives the propensities of all arms that each event could play, unless there is
        a forced start.
        """
        odds = odds_of(self.rule)(self._view_at(time), rng, nodes, arms, draws=draws)
        fits = self.answers_fit
        choices = odds.choices if fits else checked_choices(self.rule, odds.choices, arms)
        if floor > 0:
            uniform = arms.numbers((rng.random(nodes.size) * arms.sizes).astype(np.intp))
            choices = np.where(rng.random(nodes.size) < floor, uniform, choices)
        shares = odds.of(choices) if fits else checked_odds(self.rule, odds, choices)
        propensities = (1 - floor) * shares + floor / arms.sizes
        if self.forced is not None:
            choices = choices.copy()  # the rule's own may be part of its odds
            propensities[self.forced.apply(nodes, arms, choices)] = 1.0
        if of_all is not None and self.forced is None:
            of_all += propensities_of_all(odds, arms, floor)
        return choices, propensities

    def _raw_choose_best(
        self, rng: Generator, nodes: Indices, arms: Arms, *, time: Vector | None = None
    ) -> tuple[Indices, Vector]:
        """The arms of highest posterior mean, and how probable each was: one over the ties.

        The rule, the floor and the forced start have no say.  Nodes and arms were checked before.
        """
        odds = greedy.odds(self._view_at(time), rng, nodes, arms, draws=1)
        return odds.choices, odds.of(odds.choices)

    @property
    def gives_propensities(self) -> bool:
        """Whether the rule can say how probable its choices were."""
        return has_odds(self.rule)

    def check_propensities(self, draws: int = DRAWS, floor: float = 0.0) -> None:
        """Raise an error unless `act_with_propensities` can take these arguments."""
        odds_of(self.rule)
        count("draws", draws, least=1)
        if not 0 <= real_array("floor", floor, ()) <= 1:
            raise ValueError(f"floor must be in [0, 1], got {floor}")

    def predict(
        self, tasks: ArrayLike, features: ArrayLike, *, time: ArrayLike | None = None
    ) -> Prediction:
        """The posterior of each event's mean reward."""
        return self.belief.predict(self._checked_nodes(tasks), features, time=time)

    def learn(
        self,
        tasks: ArrayLike,
        features: ArrayLike,
        rewards: ArrayLike,
        *,
        time: ArrayLike | None = None,
    ) -> None:
        """Learn rewards, now or later, in any order.

        Then the belief refits if that is due, as an agent's does.
        """
        self.belief.observe(self._checked_nodes(tasks), features, rewards, time=time)
        self.belief._raw_settle()

    def _view_at(self, time: Vector | None) -> BeliefView:
        """What the rule sees of the belief."""
        return self._view if time is None else BeliefView(self._belief, time)

    def _checked_round(
        self, rng: Generator, tasks: ArrayLike, arms: Any, eligible: Any
    ) -> tuple[Indices, Arms]:
        generator("rng", rng)
        nodes = self._checked_nodes(tasks)
        belief = self.belief
        return nodes, Arms.of(
            arms,
            nodes.size,
            belief.dim,
            armed=belief.is_armed,
            eligible=eligible,
            largest=belief.largest_feature,
        )

    def _checked_nodes(self, tasks: ArrayLike) -> Indices:
        """The node of each task; a node that is not a task's is refused."""
        if self._node_of is None:
            nodes = index_array("tasks", tasks, self.belief.num_nodes, "tasks")
        else:
            nodes = self._node_of[index_array("tasks", tasks, self._node_of.size, "tasks")]
            self.belief.checked_nodes(nodes)  # it may be another than at first
        self.belief._raw_check_leaves(nodes)
        return nodes


def _policy(
    belief: Posterior, rule: Rule, node_of: Indices | None, forced: ForcedStart | None
) -> Policy:
    """The policy of these parts, for pickles and copies."""
    return Policy(belief, rule, node_of=node_of, forced=forced)
