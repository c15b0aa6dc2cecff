"""An agent: one policy for people, with task names, decision ids and late rewards."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.agent.agent_file import read_agent, write_agent
from hierbandits.agent.agent_prior import agent_prior
from hierbandits.agent.catalogue import Catalogue
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Ledger, Pending
from hierbandits.agent.posterior_table import posterior_table, summary_text
from hierbandits.agent.roster import Member, Roster
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST, count, one_of, real_array
from hierbandits.models.model import Model
from hierbandits.policies.recipes import POLICIES, Recipe, name_of, usual_policy
from hierbandits.types import Name, TaskName


class Agent:
    """Decides for named tasks and learns from rewards that come late, twice or out of order.

    Without a prior it learns the widths and the noise as it goes (AdaptiveHierTS); then
    `num_features`, or the form of `arms`, says what kind of bandit it is.  Tasks are added when
    they are first seen.  In a hierarchy of more than two levels a task is a path,
    ("north", "store-17").  `arms` are what `decide` offers unless it is given others: names when
    armed; a mapping from name to features, or a (K, d) array, when linear.  With `draws`,
    decisions carry propensities estimated from so many posterior draws, and `floor` is the share
    of decisions that are made uniformly at random.
    """

    def __init__(
        self,
        prior: Model | None = None,
        policy: str | Recipe | None = None,
        *,
        num_features: int | None = None,
        arms: Any = None,
        seed: int | None = None,
        draws: int | None = None,
        floor: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if draws is None and floor != 0:
            raise ValueError(f"floor needs propensities: give draws too, got floor={floor}")
        self.prior = agent_prior(prior, num_features, arms)
        self._recipe = _checked_recipe(policy, self.prior)
        self._policy = self._recipe(self.prior)
        if draws is not None:
            self._policy.check_propensities(draws, floor)
        self._draws = None if draws is None else int(draws)
        self._floor = float(floor)
        self._catalogue = Catalogue(
            arms, self.prior.dim, armed=self.prior.is_armed, largest=self.belief.largest_feature
        )
        self._rng = np.random.default_rng(seed)
        self._clock = clock
        self._roster = Roster(self.belief, self.prior.num_levels - 1)
        self._ledger = Ledger()

    @property
    def belief(self) -> Posterior:
        """What the agent knows; `node` gives a task's number in it."""
        return self._policy.belief

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks met so far."""
        return [member.task for member in self._roster]

    @property
    def pending(self) -> list[Decision]:
        """The decisions that await their reward, oldest first."""
        return [pending.decision for pending in self._ledger.pending.values()]

    def node(self, task: TaskName) -> int:
        """The number of a task in the belief."""
        return self._roster.find(task).node

    def decide(
        self, task: TaskName, arms: Any = None, *, eligible: Any = None, id: str | None = None
    ) -> Decision:
        """Choose an arm for a task.

        `arms` is a (K, d) array, a mapping from name to features, or the names (or indices) of
        some of the agent's own arms, which are the default.  `eligible` is a mask over them.
        """
        ids = None if id is None else [id]
        return self.decide_many([task], arms, eligible=eligible, ids=ids)[0]

    def decide_many(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        eligible: Any = None,
        ids: Sequence[str] | None = None,
    ) -> list[Decision]:
        """Choose arms in one concurrent round: tasks share one draw of what they have in common.

        `arms` is one offer for all tasks, as in `decide`, or a list with one for each.
        """
        if isinstance(tasks, str):
            raise ValueError(f"tasks must be several tasks, got the string {tasks!r:.80}")
        paths = [self._roster.checked_path(task) for task in tasks]
        offered, names = self._catalogue.offered(arms, len(paths), eligible)
        new_ids = self._ledger.new_ids(ids, len(paths))
        now = self._clock()
        members = [self._roster.meet(path) for path in paths]
        nodes = np.array([member.node for member in members], np.intp)
        propensities: Sequence[float | None] = [None] * len(paths)
        if self._draws is None:
            choices = self._policy.choose(self._rng, nodes, offered)
        else:
            choices, shares = self._policy.choose_with_propensities(
                self._rng, nodes, offered, draws=self._draws, floor=self._floor
            )
            propensities = shares.tolist()
        features = offered.features(choices)
        features.flags.writeable = False  # the reward, when it comes, is for these
        armed, add = self.prior.is_armed, self._ledger.add
        decisions = []
        for e, member in enumerate(members):
            decision = Decision(
                new_ids[e],
                member.task,
                names[e][choices[e]],
                int(features[e]) if armed else features[e],
                propensities[e],
            )
            add(decision, member, now)
            decisions.append(decision)
        return decisions

    def reward(self, id: str, value: float) -> bool:
        """Learn the reward of a decision.  True if it is new, False if the same came before.

        Raises RewardConflict if another value came before, UnknownDecision for an unknown id.
        """
        if type(value) is not float or not abs(value) <= LARGEST:
            value = float(real_array("value", value, ()))
        pending = self._ledger.awaiting(id, value)
        if pending is None:
            return False
        self._learn([pending], [value])
        return True

    def reward_many(self, ids: Sequence[str], values: ArrayLike) -> list[bool]:
        """Learn many rewards at once, or, if any of them is wrong, none."""
        rewards = real_array("values", values, (len(ids),), " to match ids").tolist()
        awaiting = self._ledger.awaiting_many(ids, rewards)
        new = [(p, reward) for p, reward in zip(awaiting, rewards, strict=True) if p is not None]
        if new:
            self._learn([pending for pending, _ in new], [reward for _, reward in new])
        return [pending is not None for pending in awaiting]

    def _learn(self, decided: list[Pending], rewards: list[float]) -> None:
        nodes = np.array([pending.member.node for pending in decided], np.intp)
        features = np.array([pending.decision.features for pending in decided])
        now = self._clock()
        self._policy.belief.observe_rows(nodes, features, np.array(rewards))
        self._ledger.settle(decided, rewards, now)

    def learn_past(
        self, tasks: Sequence[TaskName], sums: TaskSums, arms: Sequence[Name] | None = None
    ) -> None:
        """Learn what is known of tasks from before: the sums of a log, a row for each task.

        Only before the first reward.  `arms` names the columns of armed sums; without it they are
        the agent's own arms, in their order.
        """
        paths = [self._roster.checked_path(task) for task in tasks]
        if arms is not None:
            sums = sums.with_arms_at(self._catalogue.indices_of(arms), self.prior.dim)
        if len(set(paths)) < len(paths):
            raise ValueError(f"tasks must be different, got {list(tasks)!r:.80}")
        self.belief.check_past(len(paths), sums)
        members = [self._roster.meet(path) for path in paths]
        self.belief.learn_past(np.array([member.node for member in members], np.intp), sums)
        for member, rewards in zip(members, sums.n.tolist(), strict=True):
            member.rewards += int(rewards)

    def expire(self, older_than: float) -> list[str]:
        """Forget decisions made, or rewarded, more than `older_than` seconds ago.

        Returns the ids that were still pending.  A reward for a forgotten decision is unknown.
        """
        return self._ledger.expire(self._clock() - float(real_array("older_than", older_than, ())))

    def save(self, path: str | PathLike[str]) -> None:
        """Write all state to one file: `load` resumes bit for bit."""
        write_agent(path, self)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        policy: Recipe | None = None,
        clock: Callable[[], float] = time.time,
    ) -> "Agent":
        """The agent that `save` wrote.

        If its recipe is not in POLICIES, give the recipe as `policy`.
        """
        return read_agent(path, policy, partial(cls, clock=clock))

    def table(self, confidence: float = 0.95) -> dict[str, list[Any]]:
        """What is known of every task, as columns for a data frame: see `posterior_table`."""
        return self._table(confidence, list(self._roster))

    def summary(self, max_rows: int = 40, confidence: float = 0.95) -> str:
        """The first rows of the table as text, with the agent's own line above it."""
        rows = count("max_rows", max_rows)
        shown = self._table(confidence, list(islice(self._roster, 1 + rows // self.prior.dim)))
        total = len(self.tasks) * self.prior.dim
        return f"{self!r}\n{summary_text(shown, rows, total)}"

    def _table(self, confidence: float, members: list[Member]) -> dict[str, list[Any]]:
        own = self._catalogue.own
        labels = own.names if self.prior.is_armed and own is not None else range(self.prior.dim)
        return posterior_table(self.belief, members, labels, confidence)

    def __repr__(self) -> str:
        form = f"{self.prior.dim} {'arms' if self.prior.is_armed else 'features'}"
        decided = sum(member.decisions for member in self._roster)
        rewarded = sum(member.rewards for member in self._roster)
        return (
            f"Agent({name_of(self._recipe) or 'own recipe'}, {form}, {len(self.tasks)} tasks, "
            f"{decided} decisions, {rewarded} rewarded, {len(self._ledger.pending)} pending)"
        )


def _checked_recipe(policy: str | Recipe | None, prior: Model) -> Recipe:
    """The recipe of a policy that is given by name or as it is, or the usual one for a prior."""
    if policy is None:
        policy = usual_policy(prior)
    recipe = policy if isinstance(policy, Recipe) else POLICIES[one_of("policy", policy, POLICIES)]
    if recipe.knows_truth:
        raise ValueError(f"policy must not need the truth, which no agent knows, got {policy!r}")
    return recipe
