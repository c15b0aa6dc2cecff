"""The log that evaluation reads: one that names the arms played."""

from collections.abc import Mapping, Sequence
from typing import Any

from hierbandits.logs import Log
from hierbandits.types import Name


def armed_log(
    source: Any, columns: Mapping[str, str | Sequence[str] | None], arms: Sequence[Name] | None
) -> Log:
    """A Log, or a source with its columns named, opened by `Log.of`; it must have arms."""
    log = Log.of(source, columns, arms)
    if log.columns.arm is None:
        raise ValueError(
            "log must have a column of arms: features alone do not tell which other arms "
            "could have been played; name the arms, and give arm_features={arm: features}"
        )
    return log
