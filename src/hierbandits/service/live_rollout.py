"""What people and guardrails do to a policy that acts: ramp, hold, roll back, measure."""

from collections.abc import Callable, Mapping, Sequence
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Any

from hierbandits.service.api_problem import Problem
from hierbandits.service.given_metrics import GivenMetrics, answer_metrics, exposure_of
from hierbandits.service.guardrail import EXPOSURE
from hierbandits.service.json_log import say
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_rules import (
    CLOCK,
    alarms,
    check_act,
    check_next,
    check_settings,
    is_watched_anew,
    watched,
)
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.storage import Place
from hierbandits.service.stored_event import CHANGE, MEASURE
from hierbandits.service.wire import MetricsReply

if TYPE_CHECKING:
    from hierbandits.service.live_policy import LivePolicy

ANYBODY = "anonymous"
"""Who changes a policy where no tokens are needed."""


class LiveRollout:
    """Changes where a policy's rollout stands; each change is an event of its ledger."""

    def __init__(self, live: "LivePolicy", state: RolloutState, clock: Callable[[], float]) -> None:
        self._live, self.state, self.clock = live, state, clock

    def change(self, what: str, by: str, **parts: Any) -> None:
        """Let a change happen."""
        self._live.happen(CHANGE, {"what": what, "by": by, **parts})
        level = WARNING if what in ("rollback", "sample ratio") else INFO
        say("policy changed", level, policy=self._live.record.name, what=what, by=by)

    def act(self, action: str, steps: Sequence[RampStep], reason: str, by: str) -> None:
        """Start a ramp, hold it, resume it, or roll the policy back."""
        check_act(
            self.state.ramp, self._live.settings, action, steps, reason,
            is_from_version=self._live.previous is not None,
        )  # fmt: skip
        more: dict[str, Any] = {"reason": reason} if reason else {}
        if action == "rollback":
            self._roll_back(by, **more)
        elif action != "start":
            self.change(action, by, **more)
        else:
            rows = [[step.share, step.seconds] for step in steps]
            if (previous := self._live.previous) is not None:
                more["base"] = previous.number
            self.change("ramp", by, steps=rows, watch=self._watch(), **more)
            self._end_if_all()

    def _roll_back(self, by: str, **parts: Any) -> None:
        """Give all tasks what they had before: the control arm, or the version before."""
        previous = self._live.previous
        if previous is None:
            self.change("rollback", by, **parts)
            return
        was = previous.number

        def tell(number: int) -> None:
            watch = self._watch(since=number)
            self.change("rollback", by, to=was, policy_version=number, watch=watch, **parts)

        self._live.go_back(tell)

    def _end_if_all(self) -> None:
        """Let the version before decide no more if a ramp has come to all tasks."""
        if self.state.ramp.base is None:
            self._live.previous = None

    def check_candidate(self, steps: Sequence[RampStep]) -> bool:
        """Raise a Problem unless a ramp to a candidate may begin; whether it is from this version.

        It is from the control arm if that is what some tasks have now.
        """
        if self._live.previous is not None:
            self.check_settings(self._live.settings)
        is_from_version = self.state.ramp.share == 1
        check_next(
            self.state.ramp, self._live.settings, "start", steps, is_from_version=is_from_version
        )
        return is_from_version

    def start_candidate(self, steps: Sequence[RampStep], by: str) -> None:
        """Begin the ramp to a candidate, which is the newest version already."""
        self.act("start", steps, "", by)
        self.change("promoted", by)

    def check_settings(self, settings: PolicySettings) -> None:
        """Refuse settings that do not fit a rollout that is under way."""
        if self._live.previous is not None:
            raise Problem(
                409,
                "rollout",
                f"settings must stay while version {self._live.version} is ramped from version "
                f"{self._live.previous.number}: let the ramp end, or roll it back",
            )
        check_settings(self.state.ramp, settings)

    def settle(self, before: PolicySettings | None, version: int, by: str) -> None:
        """The policy has new settings, or its first."""
        more = {"watch": self._watch()} if is_watched_anew(before, self._live.settings) else {}
        self.change("created" if before is None else "settings", by, policy_version=version, **more)

    def _watch(self, since: int = 0) -> dict[str, Any]:
        """What is watched from now on, from the beginning: decisions by versions `since` one."""
        if self._live.previous is not None:
            since = max(since, self._live.version)
        return watched(self._live.settings, self._live.agent.arms, since)

    def replace(self, state: RolloutState, seen: int) -> None:
        """Be what another state says, which has seen events up to `seen` so far."""
        state.take(self._live.view.events(seen, self._live.number))
        self.state.become(state)

    @property
    def is_due(self) -> bool:
        """Whether the next step of a ramp should begin."""
        due = self.state.ramp.due
        return due is not None and self.clock() >= due

    def step_if_due(self) -> None:
        """Begin the next step of a ramp when its time has come."""
        if self.state.ramp.due is not None and self.is_due:
            ramp = self.state.ramp
            share = ramp.steps[ramp.step + 1][0]
            is_end = ramp.base is not None and share == 1
            more = {"watch": self._watch()} if is_end else {}  # then there is no other side
            self.change("step", CLOCK, share=share, **more)
            self._end_if_all()

    def react(self) -> None:
        """Roll back if a guardrail is crossed, and tell if exposures are missing."""
        for what, by, parts in alarms(self.state):
            if what == "rollback":
                self._roll_back(by, **parts)
            else:
                self.change(what, by, **parts)

    def shown(self, ids: Sequence[str]) -> dict[str, Any]:
        """What an event of rewards says of the exposures that they confirm."""
        if self._live.settings.ratio_check != "rewards":
            return {}
        found = self._live.view.decisions(ids)
        return {"shown": [exposure_of(found[id][1]) if id in found else None for id in ids]}

    def measure(self, given: GivenMetrics) -> list[MetricsReply | Problem]:
        """Take metrics of decisions, each once; for each decision what it is told."""
        found = self._live.view.decisions([id for id, _ in given])
        wanted = [
            (found[id][0], id, name) for id, values in given if id in found for name in values
        ]
        known = self._live.view.metrics(wanted)
        outcomes, new = answer_metrics(given, found, known, self._live.settings)
        if new:
            rows = [(found[id][0], id, name, value) for id, name, value in new]
            self._happened(rows, {id: parts for id, (_, parts) in found.items()})
            self.react()
        return outcomes

    def _happened(
        self, rows: Sequence[tuple[Place, str, str, float]], parts: Mapping[str, Any]
    ) -> None:
        event: dict[str, Any] = {
            "ids": [id for _, id, _, _ in rows],
            "names": [name for _, _, name, _ in rows],
            "values": [value for _, _, _, value in rows],
            "groups": [self._side(parts[id]) for _, id, _, _ in rows],
        }
        if self._live.settings.ratio_check == "exposures":
            event["shown"] = [
                exposure_of(parts[id]) if name == EXPOSURE else None for _, id, name, _ in rows
            ]
        number = self._live.happen(MEASURE, event)
        for place, _, name, value in rows:
            self._live.keep_metric(place, name, number, value)

    def _side(self, parts: Mapping[str, Any]) -> str:
        return self.state.side(parts.get("group", "policy"), parts["policy_version"])
