"""All that an agent knows and remembers, and how each kind of event changes it."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from hierbandits.agent.catalogue import Catalogue
from hierbandits.agent.ledger import Entry, Ledger
from hierbandits.agent.roster import Roster
from hierbandits.agent.running_sums import RunningSums
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.start import Start
from hierbandits.models.model import Model
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Indices, Matrix, Name, TaskName, Vector

EXTREME = 300.0
"""A belief starts over where a reward goes that is so many times the root mean square of others.

It had little room left for their digits, and cannot give these back.
"""


class AgentState:
    """What events change: an agent calls its methods, and so does a journal that is replayed.

    Their arguments were checked before, and none of them fails.  Each counts as one event.
    """

    def __init__(
        self,
        prior: Model,
        recipe: Recipe,
        arms: Any,
        remember: int | None,
        start: Start | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        each = prior.dim if prior.is_armed else prior.dim**2
        limits.check_table(1, prior.dim, each, armed=prior.is_armed)
        self.limits = limits
        self.prior = prior
        self.recipe = recipe
        self.policy = recipe(prior)
        self.catalogue = Catalogue(
            arms,
            prior.dim,
            armed=prior.is_armed,
            largest=self.belief.largest_feature,
            limits=limits,
        )
        self.roster = Roster(self.belief, prior.num_levels - 1, limits)
        self.ledger = Ledger(remember, limits)
        self.sums = RunningSums(prior.dim, armed=prior.is_armed)
        self.num_events = 0
        self.history = secrets.token_hex(8)  # tells its events from those of other agents
        if start is not None:
            paths = [self.roster.checked_path(task) for task in start.tasks]
            self.roster.check_room(paths)
            self._learn_sums(paths, start.record())

    @property
    def belief(self) -> Posterior:
        """What the agent's policy knows."""
        return self.policy.belief

    def totals(self) -> TaskSums:
        """The sums of all rewards, a row for each task."""
        return self.sums.total(len(self.roster))

    def decide(self, entries: Sequence[Entry], *, best: bool = False) -> None:
        """New decisions await their rewards."""
        self.num_events += 1
        for entry in entries:
            self.ledger.add(entry)
            if best:
                entry.member.best += 1

    def reward_one(self, entry: Entry, reward: float, now: float) -> None:
        """`reward` of one pending decision."""
        self.num_events += 1
        belief, member = self.policy.belief, entry.member
        if belief.IS_TIMED:
            self._observe([entry], [reward])
        else:
            row = entry.row
            belief._raw_observe_one(member.node, row, reward)
            self.sums.add(member.row, row, reward)
        self.ledger.settle(entry, reward, now)

    def reward(self, entries: Sequence[Entry], rewards: Sequence[float], now: float) -> None:
        """Decisions have their rewards now; these replace defaults."""
        self.num_events += 1
        new = [place for place, entry in enumerate(entries) if not entry.provisional]
        if len(new) == len(entries):
            self._observe(entries, rewards)
        elif new:
            self._observe([entries[place] for place in new], [rewards[place] for place in new])
        for entry, reward in zip(entries, rewards, strict=True):
            if entry.provisional:
                self._revise(entry, reward)
        self.ledger.settle_many(entries, rewards, now)

    def default(self, entries: Sequence[Entry], reward: float, now: float) -> None:
        """Pending decisions have this reward until their own comes."""
        self.num_events += 1
        rewards = [reward] * len(entries)
        self._observe(entries, rewards)
        self.ledger.settle_many(entries, rewards, now, provisional=True)

    def correct(self, entry: Entry, reward: float) -> None:
        """A settled decision has another reward."""
        self.num_events += 1
        self._revise(entry, reward)
        entry.reward, entry.provisional = reward, False

    def drop(self, entries: Sequence[Entry]) -> None:
        """Forget decisions, but not what they taught."""
        self.num_events += 1
        self.ledger.drop(entries)

    def _observe(self, entries: Sequence[Entry], rewards: Sequence[float]) -> None:
        nodes = np.array([entry.member.node for entry in entries], np.intp)
        features = np.array([entry.row for entry in entries])
        time = None
        if self.belief.IS_TIMED:  # a reward says what a task was like when it was decided for
            time = np.array([entry.time for entry in entries])
        self.belief._raw_observe(nodes, features, np.array(rewards), time=time)
        add = self.sums.add
        for entry, reward in zip(entries, rewards, strict=True):
            add(entry.member.row, entry.row, reward)

    def _revise(self, entry: Entry, reward: float) -> None:
        old = entry.reward
        assert old is not None  # it is settled
        if old != reward:
            self.sums.revise(entry.member.row, entry.row, old, reward)
            node, row, belief = entry.member.node, entry.row, self.belief
            is_extreme = old * old > EXTREME**2 * self.sums.mean_square()
            if (
                is_extreme or not belief._raw_can_revise(node, row, old, reward)
            ) and not belief.IS_TIMED:
                self._start_over(self.recipe(self.prior))
            else:
                belief.revise(node, row, old, reward)

    def learn(
        self, tasks: Sequence[tuple[Name, ...]], table: Matrix | Indices, rewards: Vector
    ) -> None:
        """Rewards of decisions that were made elsewhere; new tasks are met."""
        self.num_events += 1
        if len(tasks) == 0:
            return
        members = [self.roster.meet(path) for path in tasks]
        nodes = np.array([member.node for member in members], np.intp)
        self.belief._raw_observe(nodes, table, rewards)
        rows = np.array([member.row for member in members], np.intp)
        self.sums.add_many(rows, table, rewards)

    def learn_past(self, tasks: Sequence[tuple[Name, ...]], sums: TaskSums) -> None:
        """Whole sums, a row for each task, before any reward."""
        self.num_events += 1
        self._learn_sums(tasks, sums)

    def _learn_sums(self, tasks: Sequence[tuple[Name, ...]], sums: TaskSums) -> None:
        members = [self.roster.meet(path) for path in tasks]
        self.belief._raw_learn_past(np.array([member.node for member in members], np.intp), sums)
        self.sums.put(np.array([member.row for member in members], np.intp), sums)

    def forget(self, task: TaskName) -> None:
        """A task was never met."""
        self.num_events += 1
        member = self.roster.drop(task)
        self.ledger.drop(self.ledger.of_member(member))
        self.sums.remove(member.row)
        self._start_over(self.recipe(self.prior))

    def add_arm(self, name: Name, prior: Model, policy: Policy) -> None:
        """One more arm: its prior, and a new policy for it."""
        self.num_events += 1
        self.prior = prior
        self.catalogue.add(name)
        self.sums.add_arm()
        self._start_over(policy)

    def check_more_arms(self) -> None:
        """Raise an error if one more arm would be too much, for all tasks together."""
        dim = self.prior.dim + 1
        self.limits.check_table(len(self.roster), dim, dim, armed=True)

    def retire_arm(self, name: Name) -> None:
        """Offer an arm no more."""
        self.num_events += 1
        self.catalogue.retire(name)

    def _start_over(self, policy: Policy) -> None:
        """A new policy learns all that is left, from the sums."""
        self.policy = policy
        self.roster.move_to(policy.belief)
        sums = self.totals()
        told = np.flatnonzero(sums.n > 0)
        if told.size:
            policy.belief._raw_learn_past(self.roster.nodes()[told], sums.rows(told))
        self.count_decisions()

    def count_decisions(self) -> None:
        """Tell a forced start how often each task has explored."""
        if self.policy.forced is not None:
            decided = np.zeros(self.belief.num_nodes, np.int32)
            for member in self.roster:
                decided[member.node] += member.decisions - member.best
            self.policy.forced = ForcedStart(decided)
