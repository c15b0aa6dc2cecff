"""What is odd about whole columns and whole rows: constant, equal, or there twice."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.logs.column_profile import ColumnProfile
from hierbandits.logs.columns import Columns
from hierbandits.logs.problem import SHOWN_ROWS, Problem
from hierbandits.logs.repeats import Repeats
from hierbandits.logs.role_guess import guessed_roles


def column_problems(
    profiles: Sequence[ColumnProfile], hashes: NDArray[Any], columns: Columns | None
) -> list[Problem]:
    """What is odd about a log's columns; `hashes` has one for each row, `columns` the roles."""
    problems = [*_constant(profiles, columns), *_identical(profiles)]
    if columns is None:
        problems += _padded(profiles)
    if columns is None or columns.decision is None:
        problems += _repeated_rows(profiles, hashes)
    return problems


def repeat_problems(repeats: Repeats, column: str, *, dropped: bool) -> list[Problem]:
    """Decision ids that repeat, where copies are `dropped` or not."""
    problems = []
    if repeats.copies.size and not dropped:
        problems.append(
            Problem(
                stops=True, column=column, role="decision", count=repeats.copies.size,
                rows=tuple(repeats.copies[:SHOWN_ROWS].tolist()),
                finding=f"{repeats.copies.size:,} rows repeat an earlier row and its id",
                effect="Each copy would count as one more reward.",
                remedy=f"--decision={column} leaves the copies out (drop_repeated=True).",
                fix={"drop_repeated": True},
            )
        )  # fmt: skip
    if repeats.conflicts.size:
        pairs = [each for each in repeats.shown if not each.same]
        shown = ", ".join(f"{each.id!r} in {each.first:,} and {each.row:,}" for each in pairs[:3])
        problems.append(
            Problem(
                stops=True, column=column, role="decision", count=repeats.conflicts.size,
                rows=tuple(repeats.conflicts[:SHOWN_ROWS].tolist()),
                finding=f"{repeats.conflicts.size:,} rows have the id of an earlier row "
                f"and other cells: {shown}",
                effect="The log does not say which of them is right.",
                remedy="Keep one of them in the log, or name another column.",
            )
        )  # fmt: skip
    return problems


def _constant(profiles: Sequence[ColumnProfile], columns: Columns | None) -> list[Problem]:
    """Columns with one value; a task, an arm and a reward need two."""
    problems, others = [], []
    vital = {} if columns is None else {columns.task: "task", columns.reward: "reward"}
    if columns is not None and columns.arm is not None:
        vital[columns.arm] = "arm"
    for profile in profiles:
        if profile.is_constant and profile.name in vital:
            value = profile.examples[0] if profile.examples else ""
            problems.append(
                Problem(
                    stops=False, column=profile.name, role=vital[profile.name],
                    finding=f"all rows have {value!r}",
                    effect="Nothing can be learned of what never differs.",
                    remedy="Name another column, or a longer log.",
                )
            )  # fmt: skip
        elif profile.is_constant:
            others.append(profile.name)
    if others:
        problems.append(
            Problem(
                stops=False, column=None,
                finding=f"columns that hold one value: {_listed(others)}",
                effect="They tell nothing apart.", remedy="Nothing need be done.",
            )
        )  # fmt: skip
    return problems


def _identical(profiles: Sequence[ColumnProfile]) -> list[Problem]:
    """Columns that are equal in every row."""
    groups: dict[tuple[int, int], list[str]] = {}
    for profile in profiles:
        if profile.distinct > 1:
            key = profile.fingerprint, profile.num_missing
            groups.setdefault(key, []).append(profile.name)
    return [
        Problem(
            stops=False, column=None,
            finding=f"columns that are equal in every row: {_listed(names)}",
            effect="A feature that repeats another, or the reward, makes answers wrong.",
            remedy="Name one of them alone.",
        )
        for names in groups.values() if len(names) > 1
    ]  # fmt: skip


def _padded(profiles: Sequence[ColumnProfile]) -> list[Problem]:
    """Text with spaces around it."""
    return [
        Problem(
            stops=False, column=profile.name, count=profile.num_padded, rows=profile.padded_rows,
            finding=f"{profile.num_padded:,} cells have spaces around them",
            effect="A name with a space is another name.", remedy="--strip removes them.",
            fix={"strip": True},
        )
        for profile in profiles if profile.num_padded
    ]  # fmt: skip


def _repeated_rows(profiles: Sequence[ColumnProfile], hashes: NDArray[Any]) -> list[Problem]:
    """Rows that are equal in every column, where a column tells nearly all rows apart."""
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero(hashes[order][1:] == hashes[order][:-1]) + 1
    rows = np.sort(order[again])
    telling = [p for p in profiles if 2 * p.distinct > p.num_rows and p.kind != "numbers"]
    if rows.size == 0 or not telling:
        return []
    guess = guessed_roles(profiles).get("decision")
    remedy = "Leave them out of the log if they are copies."
    if guess is not None:
        remedy = f"If {guess!r} is the id of a decision, --decision={guess} leaves the copies out."
    return [
        Problem(
            stops=False, column=None, count=int(rows.size), rows=tuple(rows[:SHOWN_ROWS].tolist()),
            finding=f"{rows.size:,} rows repeat an earlier row in every column",
            effect="Each copy counts as one more reward.", remedy=remedy,
        )
    ]  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return shown + (f" and {len(names) - 10:,} more" if len(names) > 10 else "")
