"""What an agent decided, and what can be wrong with a reward for it."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from hierbandits.checks import checked_names, count, plain_name, real_array, state_array
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.types import Name, TaskName

_FEW = 5  # parts that a line of text shows in full


class UnknownDecision(LookupError):
    """A reward names a decision that was never made, or has been forgotten."""


class RewardConflict(ValueError):
    """A decision that has its reward is given another one."""


class Decision(NamedTuple):
    """An arm chosen for a task; its reward may come at any time, under its id.

    All parts are plain Python data, so that `json.dumps` takes a decision as it is.
    """

    id: str
    task: TaskName
    arm: Name  # the arm's name, or its number among those given
    features: tuple[float, ...] | int  # d numbers, or the arm's index when armed
    propensity: float | None  # how probable this arm was; None unless the agent knows
    time: float  # when it was made, by the agent's clock
    offered: tuple[Name, ...]  # the arms that could be played, by name or number

    def to_dict(self) -> dict[str, Any]:
        """The parts by name, as JSON would give them back; see `from_dict`."""
        return {
            "id": self.id,
            "task": list(self.task) if isinstance(self.task, tuple) else self.task,
            "arm": self.arm,
            "features": list(self.features) if isinstance(self.features, tuple) else self.features,
            "propensity": self.propensity,
            "time": self.time,
            "offered": list(self.offered),
        }

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> "Decision":
        """The decision that `to_dict` described, checked."""
        if not isinstance(parts, Mapping) or not parts.keys() >= _FIELDS:
            raise ValueError(f"parts must be {', '.join(cls._fields)}, got {parts!r:.80}")
        id, arm, features = parts["id"], parts["arm"], parts["features"]
        if not isinstance(id, str) or not id:
            raise ValueError(f"id must be a non-empty string, got {id!r:.80}")
        offered = _offer(parts["offered"])
        if plain_name(arm) is None or arm not in offered:
            raise ValueError(f"arm must be one that was offered, got {arm!r:.80}")
        if isinstance(features, int):
            features = count("features", features)
        else:
            features = tuple(real_array("features", features, (None,)).tolist())
        propensity, time = parts["propensity"], parts["time"]
        if propensity is not None:
            if type(propensity) is not float:
                propensity = float(real_array("propensity", propensity, ()))
            if not 0 < propensity <= 1:
                raise ValueError(f"propensity must be in (0, 1], got {propensity}")
        if type(time) is not float or not isfinite(time):
            time = float(state_array("time", time, ()))
        return cls(id, task_name(parts["task"]), arm, features, propensity, time, offered)

    def __repr__(self) -> str:
        """All parts in one line; of many arms or features their number."""
        parts = (f"{name}={text}" for name, text in self._texts().items())
        return f"Decision({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return notebook_card("Decision", (), [("", ("part", ""), list(self._texts().items()))])

    def _texts(self) -> dict[str, str]:
        """Each part as text."""
        texts = {name: repr(part) for name, part in self._asdict().items()}
        if isinstance(self.features, tuple) and len(self.features) > _FEW:
            texts["features"] = f"<{len(self.features)} numbers>"
        if len(self.offered) > _FEW:
            texts["offered"] = f"<{len(self.offered)} arms>"
        return texts

    def __eq__(self, other: object) -> bool:
        """Decisions are the same if their ids are."""
        return isinstance(other, Decision) and self.id == other.id

    def __hash__(self) -> int:
        """By the id."""
        return hash(self.id)


_FIELDS = frozenset(Decision._fields)


def _offer(names: Any) -> tuple[Name, ...]:
    """The names of arms from JSON, checked; those of plain letters are the usual case, ahead."""
    are_plain = isinstance(names, list) and {*map(type, names)} == {str}
    if are_plain and "".join(names).isascii() and len({*names}) == len(names):
        return tuple(names)
    return tuple(checked_names("offered", names))


def task_name(plain: Any) -> TaskName:
    """A task's name from JSON, where paths are lists, checked."""
    if type(plain) is str and plain.isascii():
        return plain
    name: TaskName = tuple(plain) if isinstance(plain, list) else plain
    if None in map(plain_name, name if isinstance(name, tuple) else (name,)):
        raise ValueError(f"task must be a string, an integer or a list of these, got {plain!r:.80}")
    return name
