"""The log of a policy as Parquet, in the columns that `learn` and `evaluate` read."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from hierbandits.logs.polars_import import polars_module
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import decoded, rewards_in

_ROWS = 50_000  # of a part
_EVENTS = 256  # rewards of that many events are remembered
OFFERED = 7
"""The place of the arms that could be played in a row."""


def write_log(record: PolicyRecord, storage: Storage, path: Path, *, every: bool = False) -> int:
    """Write the decisions that have a reward, or `every` one, to a file; returns how many."""
    return write_decisions(logged_decisions(record, storage), path, every=every)


def write_decisions(found: Iterable["LoggedDecision"], path: Path, *, every: bool) -> int:
    """Write those of these decisions that have a reward, or `every` one; returns how many."""
    rows = LogRows()
    return write_rows((rows.row(one) for one in found if every or one.reward is not None), path)


def write_rows(found: Iterable[tuple[Any, ...]], path: Path) -> int:
    """Write rows to a file; returns how many.

    Parts of the log are written beside the file and then put together, so that it may be larger
    than memory.
    """
    pl = polars_module()
    parts, count = path.with_name(path.name + ".parts"), 0
    parts.mkdir()
    schema = {
        "task": pl.String, "arm": pl.String, "features": pl.List(pl.Float64), "reward": pl.Float64,
        "propensity": pl.Float64, "decision": pl.String, "time": pl.Float64,
        "eligible": pl.List(pl.String), "version": pl.Int64, "group": pl.String,
        "gap": pl.Float64, "would": pl.String, "provisional": pl.Boolean,
    }  # fmt: skip
    try:
        rows: list[tuple[Any, ...]] = []
        number = 0
        for row in found:
            rows.append(row)
            count += 1
            if len(rows) == _ROWS:
                frame = pl.DataFrame(rows, schema, orient="row")
                frame.write_parquet(parts / f"{number:08d}.parquet")
                rows, number = [], number + 1
        frame = pl.DataFrame(rows, schema, orient="row")
        frame.write_parquet(parts / f"{number:08d}.parquet")
        whole = pl.scan_parquet(sorted(parts.glob("*.parquet")))
        whole.sink_parquet(path)
    finally:
        shutil.rmtree(parts)
    return count


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """A decision as the ledger has it, with its reward if it has one."""

    parts: dict[str, Any]
    version: int  # of the policy
    best: bool  # whether it was made without exploring
    reward: float | None
    provisional: bool | None  # whether the reward is only a default

    @property
    def group(self) -> str:
        """Why it has its arm: "policy", "previous", "control", "sticky" or "shadow"."""
        return str(self.parts.get("group", "policy"))


def logged_decisions(
    record: PolicyRecord, storage: Storage, until: float = inf
) -> Iterator[LoggedDecision]:
    """The decisions of a policy, in their order, up to an event."""

    @lru_cache(maxsize=_EVENTS)
    def rewards(number: int) -> dict[str, tuple[float, bool]]:
        data = storage.event(record.id, number)
        return {} if data is None else rewards_in(data)

    for number, data in storage.events(record.id):
        if number > until:
            return
        event = decoded(data)
        if event["kind"] != "decide":
            continue
        decisions = event["decisions"]
        places = [(number, place) for place, one in enumerate(decisions) if one is not None]
        rewarded = storage.rewarded_by(record.id, places)
        for place in places:
            one = decisions[place[1]]
            reward, provisional = None, None
            if place in rewarded:
                reward, provisional = rewards(rewarded[place]).get(one["id"], (None, None))
            version, best = event["policy_version"], event.get("best", False)
            yield LoggedDecision(one, version, best, reward, provisional)


class LogRows:
    """Makes rows of decisions.

    Names that are no text are written as JSON; if two are then the same, that is a ValueError.  A
    decision in shadow mode has no propensity, since the caller's choice is not known to the
    service.
    """

    def __init__(self) -> None:
        self._tasks, self.arms = Names(), Names()

    def row(self, decision: LoggedDecision) -> tuple[Any, ...]:
        """A decision as a row."""
        one, arms = decision.parts, self.arms
        features = one["features"] if isinstance(one["features"], list) else None
        group, would = decision.group, one.get("would")
        return (
            self._tasks.text(one["task"]), arms.text(one["arm"]), features, decision.reward,
            None if group == "shadow" else one["propensity"], one["id"], one["time"],
            [arms.text(arm) for arm in one["offered"]], decision.version, group, one.get("gap"),
            None if would is None else arms.text(would), decision.provisional,
        )  # fmt: skip


class Names:
    """Names as text; a number and a text that look the same are refused, not mixed up."""

    def __init__(self) -> None:
        self._kinds: dict[str, type] = {}  # of texts that may be a number or a path

    def text(self, name: Any) -> str:
        """A name as text."""
        text = name if isinstance(name, str) else msgspec.json.encode(name).decode()
        if text[:1] in _LIKE_JSON and self._kinds.setdefault(text, type(name)) is not type(name):
            raise ValueError(f"names must differ as text in a log, got {text!r} of two kinds")
        return text


_LIKE_JSON = tuple("-0123456789[")
