"""What happened to a policy over time, in few numbers: rewards, arms, predictions, delays."""

from collections import OrderedDict
from collections.abc import Iterable
from math import frexp
from typing import Any, TypeAlias

from hierbandits.dashboard.time_buckets import Buckets

MOST_BUCKETS, FIRST_WIDTH = 120, 60.0
"""The points of a curve, and the seconds of each at first."""

MOST_BINS, FIRST_BIN = 24, 2.0**-30
"""The points of the calibration, and the width of each at first."""

MOST_ARMS = 100
"""The arms that are counted by name: the first that were met."""

KEPT = 100_000
"""The latest decisions, whose rewards can still be told from others."""

OTHERS = "\x00others"
Sums: TypeAlias = list[float]  # decisions, rewards, their sum, the sum of their squares
Bucket: TypeAlias = dict[str, dict[str, Sums]]  # "groups" and "arms"
Bin: TypeAlias = list[float]  # count, expected, squared deviation, rewards, their squares
_NEW, _GIVEN, _DEFAULT, _DROPPED = 0, 1, 2, 3

COUNTS = ("decisions", "rewarded", "late", "defaulted", "dropped", "corrected", "elsewhere", "old")
"""What is counted; `old` are rewards of decisions that are not among the latest any more."""


class PolicyHistory:
    """Follows the events of a ledger, one after the other, in O(1) time each and bounded memory.

    A reward counts when its decision was made, so that groups are compared over the same time.
    It follows from the events alone, and can be saved and restored at any of them.
    """

    def __init__(self) -> None:
        self.number = 0  # the last event that it has seen
        self.counts: dict[str, int] = dict.fromkeys(COUNTS, 0)
        self._curve: Buckets[Bucket] = Buckets(FIRST_WIDTH, MOST_BUCKETS, _bucket, _merge_buckets)
        self._bins: Buckets[Bin] = Buckets(FIRST_BIN, MOST_BINS, _bin, _merge_rows)
        self._delays: dict[int, int] = {}  # by powers of two of seconds
        self._arms: set[str] = set()
        self._latest: OrderedDict[str, list[Any]] = OrderedDict()
        """By id: time, arm, group, expected reward, its deviation, reward, what became of it."""

    def follow(self, events: Iterable[tuple[int, dict[str, Any]]]) -> None:
        """See more events, each with its number in the ledger."""
        for number, event in events:
            kind = event["kind"]
            if kind == "decide":
                self._decided(event)
            elif kind == "reward":
                for id, value in zip(event["ids"], event["values"], strict=True):
                    self._rewarded(id, value, event["time"])
            elif kind == "expire":
                self._expired(event)
            elif kind == "correct":
                self._corrected(event["id"], event["value"])
            elif kind == "learn":
                if "late" in event:
                    self._rewarded(event["late"], event["rewards"][0], event["time"])
                else:
                    self.counts["elsewhere"] += len(event["rewards"])
            self.number = number

    def has_reward(self, id: str) -> bool:
        """Whether the reward of one of the latest decisions has come."""
        one = self._latest.get(id)
        return one is not None and one[6] == _GIVEN

    def _decided(self, event: dict[str, Any]) -> None:
        time, latest = event["time"], self._latest
        bucket = self._curve.at(time)
        groups, arms = bucket["groups"], bucket["arms"]
        for parts in event["decisions"]:
            if parts is None:
                continue
            group, arm = parts.get("group", "policy"), self._arm(parts["arm"])
            self.counts["decisions"] += 1
            _sums(groups, group)[0] += 1
            if group != "control":
                played = self._arm(parts["would"]) if "would" in parts else arm
                _sums(arms, played)[0] += 1
            expected, std = parts.get("expected"), parts.get("expected_std")
            latest[parts["id"]] = [time, arm, group, expected, std, None, _NEW]
        while len(latest) > KEPT:
            latest.popitem(last=False)

    def _arm(self, name: Any) -> str:
        text = str(name)
        if text in self._arms:
            return text
        if len(self._arms) >= MOST_ARMS:
            return OTHERS
        self._arms.add(text)
        return text

    def _rewarded(self, id: str, value: float, time: float) -> None:
        one = self._latest.get(id)
        if one is None:
            self.counts["old"] += 1
            return
        self.counts["rewarded"] += 1
        if one[6] in (_DEFAULT, _DROPPED):
            self.counts["late"] += 1
        delay = max(time - one[0], 0.0)
        power = frexp(delay)[1] if delay > 0 else -20
        power = max(power, -20)
        self._delays[power] = self._delays.get(power, 0) + 1
        self._count(one, value, _GIVEN)

    def _expired(self, event: dict[str, Any]) -> None:
        default = event["default"]
        for id in event["ids"]:
            self.counts["dropped" if default is None else "defaulted"] += 1
            one = self._latest.get(id)
            if one is None:
                continue
            if default is None:
                one[6] = _DROPPED
            else:
                self._count(one, default, _DEFAULT)

    def _corrected(self, id: str, value: float) -> None:
        self.counts["corrected"] += 1
        one = self._latest.get(id)
        if one is not None:
            self._count(one, value, _GIVEN)

    def _count(self, one: list[Any], value: float, became: int) -> None:
        """Let a decision have this reward, in place of one that it may have had."""
        time, arm, group, expected, std, old, was = one
        bucket = self._curve.at(time)
        rows = [_sums(bucket["groups"], group)]
        if group not in ("control", "shadow"):
            rows.append(_sums(bucket["arms"], arm))
        for row in rows:
            if old is not None:
                row[1] -= 1
                row[2] -= old
                row[3] -= old * old
            row[1] += 1
            row[2] += value
            row[3] += value * value
        if expected is not None:
            bin = self._bins.at(expected)
            if was == _GIVEN and old is not None:
                _add(bin, (-1.0, -expected, -std * std, -old, -old * old))
            if became == _GIVEN:
                _add(bin, (1.0, expected, std * std, value, value * value))
        one[5], one[6] = value, became

    def to_dict(self) -> dict[str, Any]:
        """What a page draws."""
        waiting = sum(1 for one in self._latest.values() if one[6] == _NEW)
        return {
            "event": self.number,
            "counts": self.counts,
            "waiting": waiting,
            "width": self._curve.width,
            "curve": [{"time": time, **one} for time, one in self._curve.rows()],
            "calibration": [row for _, row in self._bins.rows() if row[0] > 0],
            "delays": sorted((2.0**power, number) for power, number in self._delays.items()),
        }

    def state(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "number": self.number,
            "counts": self.counts,
            "curve": self._curve.state(),
            "bins": self._bins.state(),
            "delays": list(self._delays.items()),
            "arms": sorted(self._arms),
            "latest": list(self._latest.items()),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "PolicyHistory":
        """The history that `state` described."""
        new = cls()
        new.restore(state)
        return new

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.number = int(state["number"])
        self.counts = {name: int(state["counts"][name]) for name in COUNTS}
        self._curve.restore(state["curve"])
        self._bins.restore(state["bins"])
        self._delays = {int(power): int(number) for power, number in state["delays"]}
        self._arms = set(state["arms"])
        self._latest = OrderedDict((id, list(one)) for id, one in state["latest"])


def _bucket() -> Bucket:
    return {"groups": {}, "arms": {}}


def _bin() -> Bin:
    return [0.0] * 5


def _sums(rows: dict[str, Sums], name: str) -> Sums:
    row = rows.get(name)
    if row is None:
        row = rows[name] = [0.0] * 4
    return row


def _add(row: list[float], more: Iterable[float]) -> None:
    for place, value in enumerate(more):
        row[place] += value


def _merge_rows(one: list[float], other: list[float]) -> None:
    _add(one, other)


def _merge_buckets(one: Bucket, other: Bucket) -> None:
    for part in ("groups", "arms"):
        for name, row in other[part].items():
            _add(_sums(one[part], name), row)
