"""A policy: a belief and a rule, arrays in and arrays out."""

from typing import Any

from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.gaussian import Prediction
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import count, index_array
from hierbandits.policies.arms import Arms
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.rule import Rule
from hierbandits.policies.thompson_rule import thompson, thompson_with_propensities
from hierbandits.types import Indices, Vector


class Policy:
    """Acts in any number of tasks and runs at once, and learns from their rewards.

    `node_of` is the belief's node of each task, (tasks,).  Without it tasks are nodes.  A pooled
    policy needs it, since there all tasks of a population have one node.
    """

    def __init__(
        self,
        belief: Posterior,
        rule: Rule,
        *,
        node_of: Indices | None = None,
        forced: ForcedStart | None = None,
    ) -> None:
        self.belief = belief
        self.rule = rule
        self.forced = forced
        self._node_of = node_of

    def act(
        self, rng: Generator, tasks: ArrayLike, arms: Any = None, eligible: Any = None
    ) -> Indices:
        """The numbers of the arms, (E,), that the tasks of one round play.

        `arms` is (K, d) for all events, (E, K, d), a sequence of sets, or None when armed; see
        `Arms.of`.
        """
        return self.choose(rng, *self._checked_round(tasks, arms, eligible))

    def choose(self, rng: Generator, nodes: Indices, arms: Arms) -> Indices:
        """`act` for nodes and arms that were checked before."""
        choices = self.rule(self.belief, rng, nodes, arms)
        if self.forced is not None:
            self.forced.apply(nodes, arms, choices)
        return choices

    def act_with_propensities(
        self,
        rng: Generator,
        tasks: ArrayLike,
        arms: Any = None,
        eligible: Any = None,
        *,
        draws: int,
        floor: float = 0.0,
    ) -> tuple[Indices, Vector]:
        """`act` of a Thompson policy, with the probability of each choice.

        See `thompson_with_propensities` for `draws` and `floor`.
        """
        self.check_propensities(draws, floor)
        nodes, table = self._checked_round(tasks, arms, eligible)
        return self.choose_with_propensities(rng, nodes, table, draws=draws, floor=floor)

    def choose_with_propensities(
        self, rng: Generator, nodes: Indices, arms: Arms, *, draws: int, floor: float
    ) -> tuple[Indices, Vector]:
        """`act_with_propensities` for arguments that were checked before."""
        choices, propensities = thompson_with_propensities(
            self.belief, rng, nodes, arms, draws=draws, floor=floor
        )
        if self.forced is not None:
            propensities[self.forced.apply(nodes, arms, choices)] = 1.0
        return choices, propensities

    @property
    def gives_propensities(self) -> bool:
        """Whether the rule can say how probable its choices were."""
        return self.rule is thompson

    def check_propensities(self, draws: int, floor: float) -> None:
        """Raise an error unless `act_with_propensities` can take these arguments."""
        if not self.gives_propensities:
            raise ValueError(f"draws needs a policy of the thompson rule, got {self.rule}")
        count("draws", draws, least=1)
        if not 0 <= floor <= 1:
            raise ValueError(f"floor must be in [0, 1], got {floor}")

    def predict(self, tasks: ArrayLike, features: ArrayLike) -> Prediction:
        """The posterior of each event's mean reward."""
        return self.belief.predict(self._checked_nodes(tasks), features)

    def learn(self, tasks: ArrayLike, features: ArrayLike, rewards: ArrayLike) -> None:
        """Learn rewards, now or later, in any order."""
        self.belief.observe(self._checked_nodes(tasks), features, rewards)

    def _checked_round(self, tasks: ArrayLike, arms: Any, eligible: Any) -> tuple[Indices, Arms]:
        nodes = self._checked_nodes(tasks)
        belief = self.belief
        return nodes, Arms.of(
            arms, nodes.size, belief.dim, armed=belief.is_armed, eligible=eligible
        )

    def _checked_nodes(self, tasks: ArrayLike) -> Indices:
        """The node of each task; a node that is not a task's is refused."""
        if self._node_of is None:
            nodes = index_array("tasks", tasks, self.belief.num_nodes, "tasks")
        else:
            nodes = self._node_of[index_array("tasks", tasks, self._node_of.size, "tasks")]
        self.belief.check_leaves(nodes)
        return nodes
