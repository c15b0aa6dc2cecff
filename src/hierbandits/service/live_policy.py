"""A policy that acts: an agent, and what the service adds to its events."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from hierbandits.agent import Agent
from hierbandits.agent.decision import RewardConflict, UnknownDecision
from hierbandits.agent.journal import Event
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.service.acting_version import ActingVersion
from hierbandits.service.api_problem import Problem, not_found
from hierbandits.service.decision_plan import DecisionPlan
from hierbandits.service.given_metrics import GivenMetrics
from hierbandits.service.ledger_view import LedgerView
from hierbandits.service.live_rollout import ANYBODY, LiveRollout
from hierbandits.service.policy_answers import answer_correction, answer_late, refusal
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.recalled_reward import learn_recalled
from hierbandits.service.recent_rounds import RecentRounds
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.round_requests import RoundRequests, round_or_each
from hierbandits.service.storage import Batch, Place, PolicyRecord, Storage, VersionRecord
from hierbandits.service.stored_event import agent_events, encoded
from hierbandits.service.task_index import TaskIndex
from hierbandits.service.wire import DecisionReply, DecisionRequest, MetricsReply, RewardReply
from hierbandits.types import Name, TaskName

Outcome: TypeAlias = DecisionReply | RewardReply | Problem


class LivePolicy:
    """Decides and learns in memory; `take_batch` is what must be stored before anyone is told.

    The agent has seen the ledger up to event `number`, and writes its own events to `written`.
    While a candidate is ramped, `previous` is the version that decides for the other tasks.  One
    thread at a time uses it.
    """

    def __init__(
        self,
        record: PolicyRecord,
        settings: PolicySettings,
        version: int,
        storage: Storage,
        number: int,
        agent: Agent,
        written: list[Event],
        rollout: RolloutState | None = None,
        clock: Callable[[], float] = time.time,
        previous: ActingVersion | None = None,
    ) -> None:
        self.record, self.number, self.previous = record, number, previous
        self._acting = ActingVersion(version, settings, agent, written)
        self._storage, self.view = storage, LedgerView(record, storage)
        self._batch = Batch()
        self.written_bytes = 0  # of events, since it was loaded
        state = RolloutState() if rollout is None else rollout
        self.rollout = LiveRollout(self, state, clock)
        self._plan = DecisionPlan(record, settings, storage, state)
        self.rounds, self.task_index = RecentRounds(self.agent), TaskIndex(self.agent)

    @property
    def agent(self) -> Agent:
        """The agent of the newest version."""
        return self._acting.agent

    @property
    def settings(self) -> PolicySettings:
        """What the newest version is told to be."""
        return self._acting.settings

    @property
    def version(self) -> int:
        """The number of the newest version."""
        return self._acting.number

    @property
    def versions(self) -> list[ActingVersion]:
        """All versions that decide, the newest first."""
        return [self._acting] if self.previous is None else [self._acting, self.previous]

    @property
    def pending(self) -> int:
        """How many decisions await their reward."""
        return self.agent.num_pending

    @property
    def is_torn(self) -> bool:
        """Whether the agent did what is not in any batch: then it must be loaded anew."""
        return any(one.written for one in self.versions)

    def become(
        self,
        settings: PolicySettings,
        agent: Agent,
        written: list[Event],
        seen: int,
        now: float,
        by: str = ANYBODY,
        *,
        beside: bool = False,
    ) -> "LivePolicy":
        """The next version of the policy, whose agent has seen events up to `seen` so far.

        With `beside` this version goes on to decide for some tasks, and a ramp must begin.
        """
        self.rollout.check_settings(settings)
        events = self.view.events(seen, self.number)
        agent.catch_up(agent_events(events, agent.position[0]))
        written.clear()
        version, storage = self.version + 1, self._storage
        new = LivePolicy(
            self.record, settings, version, storage, self.number, agent, written,
            self.rollout.state, self.rollout.clock, self._acting if beside else None,
        )  # fmt: skip
        new._batch, new.view, new._plan.kept = self._batch, self.view, self._plan.kept
        new.rounds = self.rounds
        made = VersionRecord(version, settings.to_json(), self.number, now)
        new._batch.versions.append((self.record.id, made))
        new.rollout.settle(self.settings, version, by)
        return new

    def take_batch(self) -> Batch:
        """What happened since the last time, to be stored."""
        batch, self._batch = self._batch, Batch()
        return batch

    def stored(self, number: int) -> None:
        """All events up to this one are stored."""
        self.view.stored(number)

    def go_back(self, tell: Callable[[int], None]) -> None:
        """Be as the version before, which is the newest one then; `tell` of its new number."""
        previous, number, now = self.previous, self.version + 1, self.rollout.clock()
        assert previous is not None
        made = VersionRecord(number, previous.settings.to_json(), self.number, now)
        self._batch.versions.append((self.record.id, made))
        tell(number)
        self._acting, self.previous, previous.number = previous, None, number
        self.task_index = TaskIndex(self.agent)

    def _happened(self, more: dict[str, Any], by: ActingVersion | None = None) -> int:
        """Number the event that a version has just written, and keep it for the ledger."""
        writer = self._acting if by is None else by
        (event,) = writer.written
        number, data = self.number + 1, encoded(event | more)
        for other in self.versions:
            if other is not writer:
                other.follow(number, data)
        writer.written.clear()
        return self._keep(number, data)

    def _keep(self, number: int, data: bytes) -> int:
        """Keep an event for the ledger, which all versions have seen."""
        self.number = number
        self._batch.events.append((self.record.id, number, data))
        self.view.add(number, data)
        self.written_bytes += len(data)
        self.rollout.state.take([(number, data)])
        return number

    def happen(self, kind: str, parts: dict[str, Any]) -> int:
        """Let an event of the service's own happen, which teaches the agent nothing."""
        self._attempt(lambda: self.agent.learn([], [], []))
        written = self._acting.written
        written[:] = [{"kind": kind, "time": written[0]["time"]}]
        return self._happened(parts)

    def mirror(self, data: bytes) -> None:
        """Let an event of another policy happen, with its decisions and their ids."""
        number = self.number + 1
        self._acting.follow(number, data)
        self._batch.add(self.view.add_foreign(self._keep(number, data), data))

    def keep_metric(self, place: Place, name: str, number: int, value: float) -> None:
        """An event has brought a metric of a decision."""
        self.view.add_metric(place, name, number, value)
        self._batch.measures.append((self.record.id, *place, name, number))

    def _attempt(self, call: Callable[[], Any], rewards: Sequence[float] = ()) -> Any:
        """What the agent answers, if all versions can learn these rewards."""
        if self.previous is not None and len(rewards):
            self.previous.check_rewards(rewards)
        return self._acting.attempt(call)

    def decide(self, requests: Sequence[DecisionRequest]) -> list[Outcome]:
        """Decide for each request, those that can be in one round; for each what it is told."""
        self.rollout.step_if_due()
        asked = RoundRequests(requests, self.view, self._plan)
        outcomes: dict[int, Outcome] = dict(asked.answered)
        for kind, members in asked.together.items():
            some = [requests[i] for i in members]
            decide = partial(self._decide_round, version=self.versions[kind.is_previous])
            made = round_or_each(some, decide)
            outcomes |= zip(members, made, strict=True)
        for i in asked.repeated:
            outcomes[i] = self.decide([requests[i]])[0]
        return [outcomes[i] for i in range(len(requests))]

    def _decide_round(
        self, requests: list[DecisionRequest], version: ActingVersion
    ) -> list[DecisionReply]:
        luck = version.agent.begin_luck()  # in the ledger, so that the round can be told again
        plan = self._plan.of(requests, version.agent)
        number = self.number + 1
        ids = [
            self.view.ids.make(number, place) if request.id is None else request.id
            for place, request in enumerate(requests)
        ]
        decisions, expected = version.decide(requests, plan, ids)
        self._happened({"policy_version": version.number, "luck": luck}, version)
        self.rounds.add(number, requests)
        for place, request in enumerate(requests):
            if request.id is not None:
                self.view.add_id(request.id, (number, place))
                self._batch.ids.append((self.record.id, request.id, number, place))
        if self.settings.sticky:
            self._batch.assigned += self._plan.keep(requests, decisions, plan.groups)
        return [
            DecisionReply(
                one.id, request.task, one.arm, one.propensity, version.number,
                group, rewarded.gap, would,
            )
            for one, request, group, rewarded, would in zip(
                decisions, requests, plan.groups, expected, plan.would, strict=True
            )
        ]  # fmt: skip

    def reward(self, rewards: Sequence[tuple[str, float]]) -> list[Outcome]:
        """Learn rewards; for each what it is told."""
        ids, values = [id for id, _ in rewards], [value for _, value in rewards]
        try:
            learned = self._attempt(lambda: self.agent.reward_many(ids, values), values)
        except (ValueError, LookupError):
            if len(rewards) == 1:
                return [self._reward_alone(*rewards[0])]
            return [self.reward([one])[0] for one in rewards]
        if any(learned):
            fresh = [id for id, new in zip(ids, learned, strict=True) if new]
            self._settled(fresh, self.rollout.shown(fresh))
            self.rollout.react()
        return [
            RewardReply(id, "learned" if new else "duplicate")
            for id, new in zip(ids, learned, strict=True)
        ]

    def _settled(self, ids: Sequence[str], more: dict[str, Any]) -> None:
        """An event gave these decisions their rewards."""
        places = self.view.places(ids)  # first: if it fails, nothing must be kept of the event
        number, policy = self._happened(more), self.record.id
        self._batch.rewards += [(policy, *places[id], number) for id in ids if id in places]

    def _reward_alone(self, id: str, value: float) -> Outcome:
        """What to answer to a reward that the agent has refused."""
        try:
            self._attempt(lambda: self.agent.reward(id, value), [value])
        except RewardConflict as error:
            return Problem(409, "conflict", str(error))
        except UnknownDecision:
            return self._late(id, value)
        except ValueError as error:
            return refusal(error)
        raise AssertionError("a reward that was refused is accepted")

    def _late(self, id: str, value: float) -> Outcome:
        """A reward of a decision that the agent has forgotten: learned in full, and once."""
        parts = self.view.decision(id)
        if parts is None:
            return not_found("decision", id)
        if (answer := answer_late(parts, value)) is not None:
            return answer
        try:
            more = self._attempt(lambda: learn_recalled(self.agent, parts, value), [value])
        except ValueError as error:
            return refusal(error)
        self._settled([id], more | self.rollout.shown([id]))
        self.rollout.react()
        return RewardReply(id, "learned")

    def measure(self, given: GivenMetrics) -> list[MetricsReply | Problem]:
        """Take metrics of decisions, each once; for each decision what it is told."""
        return self.rollout.measure(given)

    def correct(self, id: str, value: float) -> Outcome:
        """Replace the reward of a decision."""
        parts = self.view.decision(id)
        if parts is None:
            return not_found("decision", id)
        if (answer := answer_correction(parts, value)) is not None:
            return answer
        try:
            self._attempt(lambda: learn_recalled(self.agent, parts, value), [value])
        except ValueError as error:
            return refusal(error)
        self._settled([id], {})
        return RewardReply(id, "corrected")

    def expire(self) -> int:
        """Give up waiting for rewards that are late; returns for how many decisions."""
        settings = self.settings
        if settings.reward_wait is None:
            return 0
        default, wait = settings.default_reward, settings.reward_wait
        ids = self._attempt(lambda: self.agent.expire(wait, default))
        if self._acting.written:
            self._settled([] if default is None else ids, {})
        return len(ids)

    def add_arm(self, name: Name, by: str = ANYBODY, **widths: float | None) -> None:
        """Offer one more arm."""
        if self.previous is not None:
            self.previous.check_arm(name, widths)
        self._attempt(lambda: self.agent.add_arm(name, **widths))
        self._happened({"by": by})

    def retire_arm(self, name: Name, by: str = ANYBODY) -> None:
        """Offer an arm no more."""
        if name == self.settings.control_arm:
            raise ValueError(f"name must not be that of control_arm, got {name!r}")
        self._attempt(lambda: self.agent.retire_arm(name))
        self._happened({"by": by})

    def learn(self, tasks: Sequence[TaskName], features: Any, rewards: Sequence[float]) -> None:
        """Learn rewards of decisions that were made elsewhere."""
        self._attempt(lambda: self.agent.learn(tasks, features, rewards), rewards)
        self._happened({})

    def learn_past(self, tasks: Sequence[TaskName], sums: TaskSums) -> None:
        """Learn what is known of tasks from before."""
        self._attempt(lambda: self.agent.learn_past(tasks, sums))
        self._happened({})

    def forget(self, task: TaskName, by: str = ANYBODY) -> int:
        """Make it as if a task had never been met; returns the number of this event.

        The ledger up to there is for the caller to rewrite; until then nobody finds it there.
        """
        self._attempt(lambda: self.agent.forget(task))
        number = self._happened({"by": by})
        self._plan.forget(task)
        self.view.hide(task, number)
        self.rounds, self.task_index = RecentRounds(self.agent), TaskIndex(self.agent)
        return number
