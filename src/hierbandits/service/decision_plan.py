"""What each request of a round may play: held-out tasks, kept arms and shadow mode."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hierbandits.agent import Agent
from hierbandits.agent.decision import Decision, task_name
from hierbandits.service.api_problem import bad_request
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.rollout_state import PREVIOUS, RolloutState
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import as_text
from hierbandits.service.task_groups import in_share
from hierbandits.service.wire import DecisionRequest
from hierbandits.types import Name, TaskName


@dataclass(slots=True)
class Plan:
    """For each request: the arms it may play, why these, and what the policy would have played."""

    arms: list[Any]
    groups: list[str]
    would: list[Name | None]


class DecisionPlan:
    """Narrows the arms of requests by the settings of a policy."""

    def __init__(
        self,
        record: PolicyRecord,
        settings: PolicySettings,
        storage: Storage | None,  # needed where tasks keep arms
        rollout: RolloutState,
    ) -> None:
        self._record, self._settings, self._storage = record, settings, storage
        self._rollout = rollout
        self._is_plain = (
            settings.mode == "live" and not settings.sticky and settings.control_share == 0
        )
        self.kept: dict[str, Name] = {}  # of sticky tasks, that were asked for lately

    def of(self, requests: Sequence[DecisionRequest], agent: Agent) -> Plan:
        """What these requests may play."""
        plan = Plan(
            [request.arms for request in requests],
            ["policy"] * len(requests),
            [None] * len(requests),
        )
        ramp = self._rollout.ramp
        share = ramp.share
        if self._is_plain and share == 1:
            for request in requests:
                if request.played is not None:
                    raise bad_request("played must not be given but in shadow mode")
            return plan
        tasks = [as_text(request.task) for request in requests]
        # A task has a fixed place: as the share of the policy grows, those in it stay in it.
        held_out = self._settings.control_share
        if ramp.base is None:
            held_out = max(held_out, 1 - share)
        if self._settings.sticky:
            self._find_kept(tasks)
            self._give_up(tasks, agent.offers)
        for i, (request, task) in enumerate(zip(requests, tasks, strict=True)):
            settings = self._settings
            if in_share(self._record.salt, task, held_out):
                assert settings.control_arm is not None
                plan.arms[i] = _only(request.arms, settings.control_arm, "control_arm")
                plan.groups[i] = "control"
            elif settings.mode == "shadow":
                contexts = None if request.context is None else [request.context]
                (plan.would[i],) = agent.advise(
                    [task_name(request.task)],
                    None if request.arms is None else [request.arms],
                    context=contexts,
                )
                if request.played is None:
                    raise bad_request("played must be given in shadow mode: the arm that you play")
                plan.arms[i] = _only(request.arms, request.played, "played")
                plan.groups[i] = "shadow"
            else:
                if task in self.kept and _may_play(request.arms, self.kept[task]):
                    plan.arms[i] = _only(request.arms, self.kept[task], "arms")
                    plan.groups[i] = "sticky"
                if ramp.base is not None and in_share(self._record.salt, task, 1 - share):
                    plan.groups[i] = PREVIOUS
        return plan

    @property
    def is_sticky(self) -> bool:
        """Whether a task keeps the arm that it had first."""
        return self._settings.sticky

    def is_previous(self, request: DecisionRequest) -> bool:
        """Whether the version before decides for a task, which a candidate has not reached."""
        ramp = self._rollout.ramp
        if ramp.base is None:
            return False
        salt, task = self._record.salt, as_text(request.task)
        held_out = self._settings.control_share
        return in_share(salt, task, 1 - ramp.share) and not in_share(salt, task, held_out)

    def _find_kept(self, tasks: Sequence[str]) -> None:
        unknown = [task for task in tasks if task not in self.kept]
        if unknown:
            assert self._storage is not None
            found = self._storage.assigned(self._record.id, unknown)
            self.kept |= {task: msgspec.json.decode(arm) for task, arm in found.items()}

    def _give_up(self, tasks: Sequence[str], offers: Collection[Name] | None) -> None:
        """Let tasks keep no arm that the policy does not offer any more."""
        if offers is None:
            return
        for task in tasks:
            if task in self.kept and self.kept[task] not in offers:
                del self.kept[task]

    def forget(self, task: TaskName) -> None:
        """A task keeps no arm."""
        self.kept.pop(as_text(task), None)

    def keep(
        self,
        requests: Sequence[DecisionRequest],
        decisions: Sequence[Decision],
        groups: Sequence[str],
    ) -> list[tuple[int, str, str]]:
        """The arms that tasks have from now on, where they had none: rows for the storage."""
        rows = []
        for request, decision, group in zip(requests, decisions, groups, strict=True):
            task = as_text(request.task)
            if task not in self.kept and group != "control":  # it may come into the policy later
                self.kept[task] = decision.arm
                rows.append((self._record.id, task, as_text(decision.arm)))
        return rows


def _may_play(arms: Any, arm: Name) -> bool:
    return arms is None or arm in arms


def _only(arms: Any, arm: Name, what: str) -> Any:
    """One of the arms that a request brings, or of the policy's own."""
    if not _may_play(arms, arm):
        raise bad_request(f"{what} must be among the arms of the request, got {arm!r}")
    return {arm: arms[arm]} if isinstance(arms, dict) else [arm]
