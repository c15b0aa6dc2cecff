"""A version of a shared policy: its settings, and the arms that it was given and has lost since."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from hierbandits.agent import Agent
from hierbandits.agent.journal import Event
from hierbandits.models.model import Model
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_model import SharedModel, shared_model
from hierbandits.types import Name

_WIDTHS = ("hyper_mean", "hyper_std", "task_std")


class ArmChange(msgspec.Struct, frozen=True):
    """An arm that is offered from now on, or no more; what is not given is as of the others."""

    kind: Literal["add_arm", "retire_arm"]
    name: Name
    hyper_mean: float | None = None
    hyper_std: float | None = None
    task_std: float | None = None
    by: str = ""

    def happen(self, agent: Agent) -> None:
        """Let an agent's arms change; a ValueError if they cannot."""
        if self.kind == "retire_arm":
            agent.retire_arm(self.name)
        else:
            agent.add_arm(
                self.name, hyper_mean=self.hyper_mean, hyper_std=self.hyper_std,
                task_std=self.task_std,
            )  # fmt: skip

    def to_event(self, time: float) -> Event:
        """As the ledger of one process has it."""
        event = {"kind": self.kind, "time": time, "name": self.name, "by": self.by}
        if self.kind == "add_arm":
            event |= {name: getattr(self, name) for name in _WIDTHS}
        return event

    @classmethod
    def from_event(cls, event: Event) -> "ArmChange":
        """What an event of a ledger has changed, checked."""
        parts = {name: event[name] for name in ("kind", "name", *_WIDTHS) if name in event}
        return msgspec.convert(parts | {"by": event.get("by") or ""}, cls)


class SharedVersion(msgspec.Struct, frozen=True):
    """What workers share of a version.

    Added arms come after those of the settings, and a retired one keeps its place: so the places of
    arms in the log and in the sums of tasks mean the same in all versions.
    """

    settings: PolicySettings
    changes: list[ArmChange] = []
    has_rollout: bool = False
    """Whether programs that know of no rollouts must not serve it, nor any version after it."""

    @classmethod
    def first(cls, settings: PolicySettings) -> "SharedVersion":
        """The first version of a policy."""
        return cls(settings).with_settings(settings)

    def to_json(self) -> bytes:
        """As it is stored: without changes as plain settings, which older programs read too.

        With a rollout it is of a form that these refuse: they would not see that it was rolled
        back.
        """
        if self.has_rollout:
            return msgspec.json.encode({"with_rollout": self})
        return msgspec.json.encode(self) if self.changes else self.settings.to_json()

    @classmethod
    def from_json(cls, data: bytes) -> "SharedVersion":
        """What `to_json` gave."""
        form = msgspec.json.decode(data, type=_Form)
        if form.with_rollout is not None:
            return form.with_rollout
        if form.changes:
            return msgspec.json.decode(data, type=cls)
        return cls(PolicySettings.from_json(data))

    def with_settings(self, settings: PolicySettings) -> "SharedVersion":
        """Other settings, with the same changes; a ValueError if its control arm is retired."""
        for change in self.changes:
            if change.kind == "retire_arm" and change.name == settings.control_arm:
                raise ValueError(f"control_arm must be an arm that is offered, got {change.name!r}")
        is_watched = bool(settings.guardrails) or settings.ratio_check != "none"
        has_rollout = self.has_rollout or is_watched
        return msgspec.structs.replace(self, settings=settings, has_rollout=has_rollout)

    def with_rollout(self) -> "SharedVersion":
        """The same, for programs that know of rollouts alone."""
        return msgspec.structs.replace(self, has_rollout=True)

    def with_change(self, change: ArmChange) -> "SharedVersion":
        """One more change; a ValueError if it cannot be."""
        if change.kind == "retire_arm" and change.name == self.settings.control_arm:
            raise ValueError(f"name must not be that of control_arm, got {change.name!r}")
        agent = self._changed()
        change.happen(agent)
        made = msgspec.structs.replace(self, changes=[*self.changes, change])
        made.model()
        return made

    def model(self) -> SharedModel:
        """What the policy believes in; a ValueError that names what workers cannot share."""
        return shared_model(self.settings, self._changed().prior if self.changes else None)

    def arms(self) -> Sequence[Name] | None:
        """The names of all arms, the retired ones too; None if the policy has none of its own."""
        return self._changed().arms

    def _changed(self) -> Agent:
        """An agent that knows nothing but the changes."""
        agent = self.settings.make_agent(lambda event: None, seed=0)
        for change in self.changes:
            change.happen(agent)
        return agent

    def make_agent(
        self,
        written: list[Event],
        seed: int,
        believed: Model,
        clock: Callable[[], float] = time.time,
    ) -> Agent:
        """An agent that believes in a model, which knows all arms; it writes its events down."""
        settings = self.settings
        if self.changes:
            arms: Any = self.arms()
            settings = msgspec.structs.replace(settings, arms=list(arms))
        agent = settings.make_agent(written.append, seed, clock, believed=believed)
        for change in self.changes:
            if change.kind == "retire_arm":
                change.happen(agent)
        written.clear()
        return agent


class _Form(msgspec.Struct):
    changes: list[Any] = []
    with_rollout: SharedVersion | None = None
