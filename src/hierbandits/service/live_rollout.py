"""What people and guardrails do to a policy that acts: ramp, hold, roll back, measure."""

from collections.abc import Callable, Mapping, Sequence
from logging import INFO, WARNING
from typing import TYPE_CHECKING, Any

import msgspec

from hierbandits.service.api_problem import Problem, bad_request, not_found
from hierbandits.service.guardrail import EXPOSURE
from hierbandits.service.json_log import say
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep, check_steps
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.storage import Place
from hierbandits.service.stored_event import CHANGE, MEASURE
from hierbandits.service.wire import MetricsReply

if TYPE_CHECKING:
    from hierbandits.service.live_policy import LivePolicy

ANYBODY = "anonymous"
"""Who changes a policy where no tokens are needed."""

CLOCK = "the schedule"
RATIO = "the sample-ratio check"
LONGEST_REASON = 1000
_MAY = {
    "start": ("none", "done", "rolled back"),
    "hold": ("ramping",),
    "resume": ("held",),
}
_NEXT = {
    "none": "start it, or roll the policy back",
    "ramping": "hold it, or roll the policy back",
    "held": "resume it, or roll the policy back",
    "done": "start another, or roll the policy back",
    "rolled back": "start another",
}


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
        self._check_act(action, steps, reason)
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
        self._check("start", steps, is_from_version)
        return is_from_version

    def start_candidate(self, steps: Sequence[RampStep], by: str) -> None:
        """Begin the ramp to a candidate, which is the newest version already."""
        self.act("start", steps, "", by)
        self.change("promoted", by)

    def _check_act(self, action: str, steps: Sequence[RampStep], reason: str) -> None:
        """Raise a Problem unless `act` may do this."""
        if len(reason) > LONGEST_REASON:
            raise bad_request(f"reason must have at most {LONGEST_REASON} characters")
        if (action == "start") != bool(steps):
            raise bad_request("steps must be given to start a rollout, and only then")
        self._check(action, steps, self._live.previous is not None)

    def _check(self, action: str, steps: Sequence[RampStep], is_from_version: bool) -> None:
        """Raise a Problem if it is not the time; a ramp from a version needs no control arm."""
        ramp = self.state.ramp
        phase = ramp.phase
        if not (ramp.acts if action == "rollback" else phase in _MAY[action]):
            raise Problem(
                409, "wrong_phase", f"the rollout is {phase!r}, {_NEXT[phase]}; got {action!r}"
            )
        if action in ("start", "rollback"):
            self._check_control(action, is_from_version)
        if action == "start":
            try:
                check_steps(steps)
            except ValueError as error:
                raise bad_request(str(error)) from error

    def _check_control(self, action: str, is_from_version: bool) -> None:
        settings = self._live.settings
        if settings.control_arm is None and not is_from_version:
            raise Problem(409, "no_control_arm", f"control_arm must be a setting to {action}")
        if settings.mode != "live":
            raise Problem(
                409, "not_live", f"mode must be 'live' to {action}, got {settings.mode!r}"
            )

    def check_settings(self, settings: PolicySettings) -> None:
        """Refuse settings that do not fit a rollout that is under way."""
        ramp = self.state.ramp
        if self._live.previous is not None:
            raise Problem(
                409,
                "rollout",
                f"settings must stay while version {self._live.version} is ramped from version "
                f"{self._live.previous.number}: let the ramp end, or roll it back",
            )
        if ramp.share < 1 and (settings.control_arm is None or settings.mode != "live"):
            raise Problem(
                409,
                "rollout",
                f"control_arm and mode 'live' must stay while the rollout is {ramp.phase!r}",
            )

    def settle(self, before: PolicySettings | None, version: int, by: str) -> None:
        """The policy has new settings, or its first."""
        settings = self._live.settings
        now = settings.guardrails, settings.ratio_check
        was = ([], "none") if before is None else (before.guardrails, before.ratio_check)
        more = {} if now == was else {"watch": self._watch()}
        self.change("created" if before is None else "settings", by, policy_version=version, **more)

    def _watch(self, since: int = 0) -> dict[str, Any]:
        """What is watched from now on, from the beginning: decisions by versions `since` one."""
        settings, arms = self._live.settings, self._live.agent.arms
        if self._live.previous is not None:
            since = max(since, self._live.version)
        more = {"since": since} if since else {}
        return more | {
            "guardrails": msgspec.to_builtins(settings.guardrails),
            "counts": settings.ratio_check,
            "arms": [] if arms is None else list(arms),
        }

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
        watch = self.state.crossed
        if watch is not None:
            told = watch.told()
            parts = {name: told[name] for name in ("count", "mean", "evidence")}
            self._roll_back(f"the guardrail {watch.guardrail.name}", **parts)
        if self.state.is_ratio_off and self.state.ratio is not None:
            ratio = self.state.ratio
            self.change("sample ratio", RATIO, count=ratio.count, evidence=ratio.evidence)

    def shown(self, ids: Sequence[str]) -> dict[str, Any]:
        """What an event of rewards says of the exposures that they confirm."""
        if self._live.settings.ratio_check != "rewards":
            return {}
        found = self._live.view.decisions(ids)
        return {"shown": [_shown(found[id][1]) if id in found else None for id in ids]}

    def measure(self, given: Sequence[tuple[str, Mapping[str, float]]]) -> list[Any]:
        """Take metrics of decisions, each once; for each decision what it is told."""
        found = self._live.view.decisions([id for id, _ in given])
        wanted = [
            (found[id][0], id, name) for id, values in given if id in found for name in values
        ]
        known = self._live.view.metrics(wanted)
        outcomes: list[Any] = []
        rows: list[tuple[Place, str, str, float]] = []
        for id, values in given:
            problem = self._problem(id, id in found, values, known)
            if problem is not None:
                outcomes.append(problem)
                continue
            told = {}
            for name, value in values.items():
                is_new = (id, name) not in known
                told[name] = "stored" if is_new else "duplicate"
                if is_new:
                    known[id, name] = value
                    rows.append((found[id][0], id, name, value))
            outcomes.append(MetricsReply(id, told))
        if rows:
            self._happened(rows, {id: parts for id, (_, parts) in found.items()})
            self.react()
        return outcomes

    def _problem(
        self,
        id: str,
        is_known: bool,
        values: Mapping[str, float],
        known: Mapping[tuple[str, str], float],
    ) -> Problem | None:
        """What is wrong with metrics of a decision."""
        if not is_known:
            return not_found("decision", id)
        settings = self._live.settings
        guardrails = {one.name: one for one in settings.guardrails}
        for name, value in values.items():
            if name == EXPOSURE and settings.ratio_check == "exposures":
                pass
            elif name not in guardrails:
                return bad_request(f"metrics must be of guardrails, got {name!r:.120}")
            else:
                try:
                    guardrails[name].check_value(value)
                except ValueError as error:
                    return bad_request(str(error))
            if known.get((id, name), value) != value:
                text = f"decision {id!r} has {known[id, name]} of {name}, got {value}"
                return Problem(409, "conflict", text)
        return None

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
                _shown(parts[id]) if name == EXPOSURE else None for _, id, name, _ in rows
            ]
        number = self._live.happen(MEASURE, event)
        for place, _, name, value in rows:
            self._live.keep_metric(place, name, number, value)

    def _side(self, parts: Mapping[str, Any]) -> str:
        return self.state.side(parts.get("group", "policy"), parts["policy_version"])


def _shown(parts: Mapping[str, Any]) -> list[Any] | None:
    """An exposure of a decision that could have been another."""
    if "odds" not in parts:
        return None
    return [parts["arm"], parts["offered"], parts["odds"]]
