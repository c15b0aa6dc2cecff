"""The log of a policy as Parquet, in the columns that `learn` and `evaluate` read."""

import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from hierbandits.logs.polars_import import polars_module
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import decoded, rewards_in

_ROWS = 50_000  # of a part
_EVENTS = 256  # rewards of that many events are remembered


def write_log(record: PolicyRecord, storage: Storage, path: Path, *, every: bool = False) -> int:
    """Write the decisions that have a reward, or `every` one, to a file; returns how many.

    Parts of the log are written beside the file and then put together, so that it may be larger
    than memory.  Names that are no text are written as JSON; if two are then the same, that is a
    ValueError.  A decision in shadow mode has no
    propensity, since the caller's choice is not known to the service.
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
        for row in log_rows(record, storage, every=every):
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


def log_rows(
    record: PolicyRecord, storage: Storage, *, every: bool = False
) -> Iterator[tuple[Any, ...]]:
    """The decisions of a policy, in their order, with their rewards."""
    tasks, arms = _Names(), _Names()

    @lru_cache(maxsize=_EVENTS)
    def rewards(number: int) -> dict[str, tuple[float, bool]]:
        data = storage.event(record.id, number)
        return {} if data is None else rewards_in(data)

    for number, data in storage.events(record.id):
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
            if reward is not None or every:
                yield _row(one, reward, provisional, event["policy_version"], tasks, arms)


class _Names:
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


def _row(
    one: dict[str, Any],
    reward: float | None,
    provisional: bool | None,
    version: int,
    tasks: _Names,
    arms: _Names,
) -> tuple[Any, ...]:
    features = one["features"] if isinstance(one["features"], list) else None
    group, would = one.get("group", "policy"), one.get("would")
    return (
        tasks.text(one["task"]), arms.text(one["arm"]), features, reward,
        None if group == "shadow" else one["propensity"], one["id"], one["time"],
        [arms.text(arm) for arm in one["offered"]], version, group, one.get("gap"),
        None if would is None else arms.text(would), provisional,
    )  # fmt: skip
