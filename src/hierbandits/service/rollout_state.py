"""All that a ledger says of a policy's rollout: a function of its events alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from hierbandits.service.guardrail import EXPOSURE, Guardrail, GuardrailWatch, Shown
from hierbandits.service.ramp import Ramp
from hierbandits.service.sample_ratio import SampleRatio
from hierbandits.service.stored_event import CHANGE, DELETED, MEASURE, decoded

FALSE_ALARMS = 0.01
"""The chance that guardrails ever roll back a sound policy; the same of the ratio check."""

_NOT_TOLD = ("kind", "watch", "candidate")
PREVIOUS = "previous"
"""The group of decisions by the version before, while a candidate is ramped."""
_EARLIER = "earlier"  # of decisions that say nothing of what is watched
_ACTS = ("policy", "sticky")  # groups of decisions that are the policy's own
_ALWAYS = tuple(
    b'{"kind":"%s"' % kind.encode()
    for kind in (CHANGE, MEASURE, "add_arm", "retire_arm", "forget", DELETED)
)
_OF_REWARDS = (b'{"kind":"reward"', b'{"kind":"learn"')


class RolloutState:
    """Takes the events of one policy in their order, and knows where its rollout stands."""

    def __init__(self) -> None:
        self.ramp = Ramp()
        self.watches: dict[str, GuardrailWatch] = {}
        self.ratio: SampleRatio | None = None
        self.ratio_alarm = False
        self.audit: list[dict[str, Any]] = []
        """Who changed what and when, the first change first."""
        self.promotion: dict[str, Any] | None = None
        """The candidate that is on its way, and the step that it has reached."""
        self.erasing: list[int] = []
        """Events that forgot tasks which the ledger still holds: their deletion is not done."""
        self.exposed_by = "none"
        """What counts as an exposure: "rewards", "exposures" or "none"."""
        self._since = 0  # the first version whose decisions are watched

    def take(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Take events as they are stored."""
        for number, data in events:
            if data.startswith(_ALWAYS) or (
                self.exposed_by == "rewards" and data.startswith(_OF_REWARDS)
            ):
                self.apply(number, decoded(data))

    def apply(self, number: int, event: Mapping[str, Any]) -> None:
        """Take one event."""
        kind = event["kind"]
        if kind == CHANGE:
            self._change(event)
            told = {"event": number} | {k: v for k, v in event.items() if k not in _NOT_TOLD}
            if "policy_version" in told:
                told["version"] = told.pop("policy_version")
            self.audit.append(told)
        elif kind == MEASURE:
            self._measure(event)
        elif kind in ("add_arm", "retire_arm"):
            entry = {"event": number, "what": kind.replace("_", " "), "arm": event["name"]}
            if "policy_version" in event:  # where workers share a policy, it makes a version
                entry["version"] = event["policy_version"]
            self.audit.append(entry | {"time": event["time"], "by": event.get("by")})
        elif kind in ("forget", DELETED):  # nobody may read here which task it was
            if kind == "forget":
                self.erasing.append(number)
            entry = {"event": number, "what": "task deleted", "time": event["time"]}
            self.audit.append(entry | {"by": event.get("by")})
        elif "shown" in event:
            self._see(event["shown"])

    def _change(self, event: Mapping[str, Any]) -> None:
        what, now = event["what"], event["time"]
        if "watch" in event:
            self._watch(**event["watch"])
        if what == "ramp":
            self.ramp.start(event["steps"], now, event.get("base"))
        elif what == "step":
            self.ramp.advance(now)
        elif what == "hold":
            self.ramp.hold(now)
        elif what == "resume":
            self.ramp.resume(now)
        elif what == "rollback":
            self.ramp.roll_back()
        elif what == "sample ratio":
            self.ratio_alarm = True
        elif what == "copied":
            self._watch([], "none", [])
            self.ramp, self.promotion = Ramp(), None
        elif what == "candidate":
            given = {name: event[name] for name in ("candidate", "evaluation")}
            self.promotion = {"step": "evaluate"} | given
        elif what == "shadow" and self.promotion is not None:
            given = {name: event[name] for name in ("shadow", "verdict", "after")}
            self.promotion |= {"step": "shadow"} | given
        elif what in ("promoted", "candidate dropped"):
            self.promotion = None

    def _watch(
        self, guardrails: Sequence[Any], counts: str, arms: Sequence[Any], since: int = 0
    ) -> None:
        """Begin to watch, with nothing seen so far."""
        alpha = FALSE_ALARMS / max(len(guardrails), 1)
        wanted = [msgspec.convert(one, Guardrail) for one in guardrails]
        self.watches = {one.name: GuardrailWatch(one, alpha) for one in wanted}
        self.exposed_by, self._since = counts, since
        self.ratio = None if counts == "none" else SampleRatio(1 / FALSE_ALARMS, arms)
        self.ratio_alarm = False

    def side(self, group: str, version: int) -> str:
        """The side on which guardrails count a decision of a version."""
        if group == PREVIOUS:
            return group if version == self.ramp.base else _EARLIER
        return _EARLIER if group in _ACTS and version < self._since else group

    def _measure(self, event: Mapping[str, Any]) -> None:
        if self.ramp.acts:
            other = "control" if self.ramp.base is None else PREVIOUS
            for name, value, group in zip(
                event["names"], event["values"], event["groups"], strict=True
            ):
                if name in self.watches and group in (*_ACTS, other):
                    self.watches[name].add(value, is_control=group == other)
        if self.exposed_by == "exposures":
            self._see(
                shown
                for name, shown in zip(event["names"], event["shown"], strict=True)
                if name == EXPOSURE
            )

    def _see(self, exposures: Iterable[Any]) -> None:
        if self.ratio is None:
            return
        for one in exposures:
            if one is not None:
                shown = msgspec.convert(one, Shown)
                self.ratio.add(shown.arm, shown.offered, shown.odds)

    @property
    def shadow(self) -> str | None:
        """The policy that is shown all decisions, and says what it would have done."""
        return None if self.promotion is None else self.promotion.get("shadow")

    @property
    def crossed(self) -> GuardrailWatch | None:
        """A guardrail that is crossed, while the policy acts still."""
        if not self.ramp.acts:
            return None
        return next((one for one in self.watches.values() if one.is_crossed), None)

    @property
    def is_ratio_off(self) -> bool:
        """Whether exposures are missing, and nobody has been told."""
        ratio = self.ratio
        return ratio is not None and not self.ratio_alarm and ratio.is_off

    def become(self, other: "RolloutState") -> None:
        """Be as another one."""
        self.__dict__.update(other.__dict__)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "ramp": self.ramp.to_dict(),
            "watches": [watch.to_dict() for watch in self.watches.values()],
            "counts": self.exposed_by,
            "since": self._since,
            "ratio": None if self.ratio is None else self.ratio.to_dict(),
            "ratio_alarm": self.ratio_alarm,
            "audit": list(self.audit),
            "promotion": self.promotion,
            "erasing": list(self.erasing),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RolloutState":
        """What `to_dict` gave."""
        state = cls()
        state.ramp = Ramp.from_dict(data["ramp"])
        watches = [GuardrailWatch.from_dict(one) for one in data["watches"]]
        state.watches = {one.guardrail.name: one for one in watches}
        state.exposed_by, state.ratio_alarm = data["counts"], data["ratio_alarm"]
        state._since = data.get("since", 0)
        if data["ratio"] is not None:
            state.ratio = SampleRatio.from_dict(1 / FALSE_ALARMS, data["ratio"])
        state.audit, state.promotion = list(data["audit"]), data["promotion"]
        state.erasing = list(data["erasing"])
        return state
