"""A policy that many workers decide for: all that it knows is in the store."""

import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import psycopg

from hierbandits.agent import Agent
from hierbandits.agent.decision import task_name
from hierbandits.agent.journal import Event
from hierbandits.agent.visited_tasks import VisitedTasks
from hierbandits.beliefs.absent_tasks import without
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.checks import real_array
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.model import Model
from hierbandits.service.acting_version import ActingVersion
from hierbandits.service.api_problem import PolicyGone, Problem
from hierbandits.service.decision_plan import DecisionPlan
from hierbandits.service.given_metrics import GivenMetrics
from hierbandits.service.policy_answers import answer_again, refusal
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.round_requests import RoundRequests, round_or_each
from hierbandits.service.shared_folder import version_of
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_ledger import SharedLedger
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_metrics import SharedMetrics
from hierbandits.service.shared_rollout import ramp_of
from hierbandits.service.shared_sites import SharedSites
from hierbandits.service.shared_sums import Behind, SharedSums
from hierbandits.service.shared_tasks import SharedTasks, TaskRow, tasks_now
from hierbandits.service.shared_waits import GaveUp, SharedWaits
from hierbandits.service.storage import PolicyRecord
from hierbandits.service.stored_event import as_text
from hierbandits.service.wire import DecisionReply, DecisionRequest, MetricsReply, RewardReply
from hierbandits.types import TaskName

GROWTH = 0.1
"""The share of new rewards at which a worker has them folded at once."""
_PLACES = 1 << 32  # decisions after which a worker takes another number for its ids


class SharedPolicy:
    """Decides by the newest generation and the rows of the acting tasks, which are always fresh.

    One thread at a time uses it.  Of what it keeps in memory nothing is lost with it: the settings
    and the generation that it has seen last.
    """

    def __init__(
        self, record: PolicyRecord, links: SharedLinks, clock: Callable[[], float] = time.time
    ) -> None:
        self.record, self.clock = record, clock
        self._links, self.waits = links, SharedWaits(record.id, links)
        self._metrics = SharedMetrics(record.id, links)
        self._worker, self._made = secrets.randbits(60), 0
        self._generation: SharedGeneration | None = None
        self._rollout, self._changed = RolloutState(), 0  # its ramp, and the last change of it
        self._folded = self._fresh = 0  # rewards in a generation, and what this worker took since
        self.refresh()

    def refresh(self) -> None:
        """See the newest generation, and the settings of its version."""
        self._seen([])

    @property
    def generation(self) -> SharedGeneration:
        """The newest generation that the worker has seen."""
        assert self._generation is not None
        return self._generation

    @property
    def version(self) -> int:
        """The number of the version that decides."""
        return self.generation.version

    def _seen(
        self, keys: Sequence[bytes], db: psycopg.Connection[Any] | None = None
    ) -> dict[bytes, TaskRow]:
        """The rows of tasks now; the newest generation becomes this one's with them.

        They are read in a transaction of their own unless another is given.
        """

        def read(sql: str, values: Sequence[Any]) -> list[Any]:
            if db is None:
                return self._links.read(sql, values)
            return db.execute(sql, values, binary=True).fetchall()

        now = tasks_now(read, self.record.id, keys, self._generation, self._changed)
        if now.generation is None:
            raise PolicyGone(self.record.name)
        if now.generation is not self._generation:
            self._adopt(now.generation, db)
        if now.changed is not None and now.ramp is not None:
            self._changed, self._rollout.ramp = now.changed, ramp_of(now.ramp)
        return now.tasks

    def _adopt(self, newer: SharedGeneration, db: psycopg.Connection[Any] | None) -> None:
        old = self._generation
        if old is None or old.version != newer.version:
            self._settle(newer.version, db)
        if (
            old is None
            or old.version != newer.version  # it has other arms, maybe
            or old.number < newer.number - newer.age  # or other widths
        ):
            written: list[Event] = []
            believed: Model = newer.hierarchy
            if self.tasks.family is not None:
                believed = GeneralizedHierarchy(newer.hierarchy, self.tasks.family)
            agent = self.made.make_agent(written, secrets.randbits(63), believed, self.clock)
            self._acting = ActingVersion(newer.version, self.settings, agent, written)
            self._visits = VisitedTasks(agent)
            self._warm_up(agent)
        self._generation = newer
        self.folded(newer.rewards)

    def _warm_up(self, agent: Agent) -> None:
        """Compile what rewards of a family call: a transaction that waits for it is given up."""
        if isinstance(agent.belief, MatchedBelief):
            task: TaskName = "first"
            others, sums = self._visits.absent.nothing(), self.tasks.sums([None])
            self._visits.come([task], sums.rewards, others, sums.known())
            features = 0 if agent.belief.is_armed else np.zeros(agent.belief.dim)
            SharedSites(agent.belief, [agent.node(task)], sums).learn(0, features, None, 1.0, None)

    def _settle(self, version: int, db: psycopg.Connection[Any] | None) -> None:
        """Be what the settings of a version say."""
        with self._links.transaction() if db is None else nullcontext(db) as used:
            made = version_of(used, self.record.id, version)
        if made is None:
            raise PolicyGone(self.record.name)
        self.made, self.settings = made, made.settings
        self.model = made.model()
        self.tasks = SharedTasks(self.record.id, self.model)
        self.view = SharedLedger(self.record, self._links, self.tasks, self._meet)
        self._plan = DecisionPlan(self.record, self.settings, None, self._rollout)

    def agent_with(self, tasks: Sequence[TaskName]) -> tuple[Agent, list[TaskName]]:
        """An agent that knows these tasks and what all others tell; and those that have a row."""
        keys = {task_key(as_text(task)): task for task in tasks}
        rows = self._seen(list(keys))
        self._visit(keys, rows)
        return self._acting.agent, [task for key, task in keys.items() if key in rows]

    def _visit(self, tasks: dict[bytes, TaskName], rows: dict[bytes, TaskRow]) -> None:
        """Let the agent know tasks by their rows, and what all others tell."""
        others = self.generation.told
        folded = [row.folded for row in rows.values() if row.folded is not None]
        if folded:
            sums = self.tasks.sums(folded)
            others = without(others, self._visits.absent.told_by(sums.known()))
        now = self.tasks.sums(rows[key].sums if key in rows else None for key in tasks)
        sites = now.known() if now.has_sites else None
        self._visits.come(list(tasks.values()), now.rewards, others, sites)

    def _meet(
        self, db: psycopg.Connection[Any], tasks: dict[bytes, TaskName], sums: SharedSums
    ) -> SharedSites:
        """Let the agent know tasks, whose rows are locked, so that they learn rewards."""
        self._visit(tasks, self._seen(list(tasks), db))
        agent = self._acting.agent
        assert isinstance(agent.belief, MatchedBelief)  # its rewards are of a family
        return SharedSites(agent.belief, [agent.node(task) for task in tasks.values()], sums)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[DecisionReply | Problem]:
        """Decide for each request, those that can be in one round; for each what it is told."""
        asked = RoundRequests(requests, self.view, self._plan)
        outcomes: dict[int, DecisionReply | Problem] = dict(asked.answered)
        for members in asked.together.values():
            made = round_or_each([requests[i] for i in members], self._decide_round)
            outcomes |= zip(members, made, strict=True)
        for i in asked.repeated:
            outcomes[i] = self.decide([requests[i]])[0]
        return [outcomes[i] for i in range(len(requests))]

    def _decide_round(self, requests: list[DecisionRequest]) -> list[DecisionReply | Problem]:
        tasks = {task_key(as_text(one.task)): task_name(one.task) for one in requests}
        rows = self._seen(list(tasks))
        self._visit(tasks, rows)
        acting, written = self._acting, self._acting.written
        written.clear()  # of what has failed in a round before
        plan = self._plan.of(requests, acting.agent)
        ids = [self._new_id() if one.id is None else one.id for one in requests]
        decisions, expected = acting.decide(requests, plan, ids)
        (event,) = written
        written.clear()
        more = {"policy_version": acting.number} | ({"best": True} if requests[0].best else {})
        new = self.view.keep([one | more for one in event["decisions"]], rows, self.clock())
        return [
            DecisionReply(
                one.id, request.task, one.arm, one.propensity, acting.number, group, rewarded.gap,
            )
            if one.id in new
            else answer_again(request, self.view.decision(one.id))  # another worker was first
            for one, request, group, rewarded in zip(
                decisions, requests, plan.groups, expected, strict=True
            )
        ]  # fmt: skip

    def _new_id(self) -> str:
        if self._made == _PLACES:
            self._worker, self._made = secrets.randbits(60), 0
        self._made += 1
        return self.view.ids.make(self._worker, self._made - 1)

    def measure(self, given: GivenMetrics) -> list[MetricsReply | Problem]:
        """Take metrics of decisions, each once; for each decision what it is told."""
        self.refresh()  # another worker may have other guardrails since
        return self._metrics.measure(given, self.settings)

    def reward(self, given: Sequence[tuple[str, float]]) -> list[RewardReply | Problem]:
        """Learn rewards; for each what it is told."""
        return self._told(given, corrects=False)

    def correct(self, id: str, value: float) -> RewardReply | Problem:
        """Replace the reward of a decision."""
        return self._told([(id, value)], corrects=True)[0]

    def _told(
        self, given: Sequence[tuple[str, float]], *, corrects: bool
    ) -> list[RewardReply | Problem]:
        wrong: dict[int, Problem] = {}
        for place, (_, value) in enumerate(given):
            try:
                real_array("value", value, ())
                self._acting.check_rewards([value])
            except ValueError as error:
                wrong[place] = refusal(error)
        sound = [one for place, one in enumerate(given) if place not in wrong]
        replies = self._learned(sound, corrects=corrects) if sound else []
        used = [one for one in replies if isinstance(one, RewardReply)]
        self._fresh += sum(one.status != "duplicate" for one in used)
        told = iter(replies)
        return [wrong[place] if place in wrong else next(told) for place in range(len(given))]

    def _learned(
        self, given: Sequence[tuple[str, float]], *, corrects: bool
    ) -> list[RewardReply | Problem]:
        """Learn rewards; those of arms that this worker has not heard of yet, after it has."""
        try:
            return self.view.reward(given, self.clock(), corrects=corrects)
        except Behind:
            self.refresh()
        return self.view.reward(given, self.clock(), corrects=corrects)

    def give_up(self) -> GaveUp:
        """Give some decisions the default whose rewards have not come in time."""
        if self.settings.default_reward is None:
            return GaveUp(0, has_more=False)
        self.refresh()
        wait, default = self.settings.reward_wait, self.settings.default_reward
        if wait is None or default is None:
            return GaveUp(0, has_more=False)
        try:
            gave_up = self.waits.give_up(self.view, wait, default)
        except Behind:
            return GaveUp(0, has_more=True)
        self._fresh += gave_up.number
        return gave_up

    @property
    def has_grown(self) -> bool:
        """Whether this worker has taken so many rewards that a fold is due at once."""
        return self._fresh > GROWTH * self._folded

    def folded(self, rewards: int) -> None:
        """There is a generation of so many rewards."""
        self._folded, self._fresh = rewards, 0
