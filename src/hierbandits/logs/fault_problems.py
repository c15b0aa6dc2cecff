"""Bad cells as people are told of them: what each does, and what goes on."""

import re
from typing import Any

from hierbandits.logs.cells import grouped
from hierbandits.logs.fault import Fault
from hierbandits.logs.numbers import is_number
from hierbandits.logs.polars_import import polars_module
from hierbandits.logs.problem import Problem
from hierbandits.logs.reading import THOUSANDS, Reading
from hierbandits.logs.times import matching_formats

NOTHING = ("na", "n/a", "nan", "null", "none", "nil", "-", "--", "?", ".", "missing", "#n/a", "")
"""Text that often stands for a missing cell."""


EFFECTS = {
    ("reward", "missing"): "If no reward means 0, write 0: rows that are left out for a reason "
    "change the answer.",
    ("propensity", "missing"): "Rows that are left out for a reason change the answer.",
    ("arm", "missing"): "If no arm means that nothing was done, give that a name.",
}
"""What to think of before rows are left out."""


def fault_problem(fault: Fault, reading: Reading, is_text: bool) -> Problem:
    """A fault as a problem."""
    if fault.kind == "missing":
        finding = f"{fault.count:,} cells are missing"
        remedy, fix = "--drop-missing leaves these rows out.", {"drop_missing": True}
        return _problem(fault, finding, remedy, fix)
    if fault.kind == "number":
        return _no_number(fault, reading, is_text)
    finding = f"{fault.count:,} cells must {fault.must}, got {fault.examples}"
    if fault.kind == "finite":
        return _problem(fault, finding, "Correct these cells, or empty them and --drop-missing.")
    if fault.role == "time":
        return _no_time(fault, reading)
    return _problem(fault, finding, "Correct these rows, or leave them out of the log.")


def _problem(fault: Fault, finding: str, remedy: str, fix: dict[str, Any] | None = None) -> Problem:
    return Problem(
        stops=True, column=fault.column, role=fault.role, finding=finding,
        effect=EFFECTS.get((fault.role, fault.kind), ""), remedy=remedy,
        count=fault.count, rows=tuple(fault.rows), fix=fix or {},
    )  # fmt: skip


def _no_number(fault: Fault, reading: Reading, is_text: bool) -> Problem:
    finding = f"{fault.count:,} cells are no numbers: {fault.examples}"
    if not is_text:
        return _problem(fault, finding, "Make this a column of numbers.")
    fix: dict[str, Any] = {}
    other = "," if reading.decimal == "." else "."
    rest = list(fault.words)
    if any(word != word.strip() for word in rest):
        fix["strip"] = True
        rest = [word.strip() for word in rest]
        rest = [word for word in rest if word and not is_number(word, reading.decimal)]
    words = sorted({word for word in rest if word.lower() in NOTHING})
    rest = [word for word in rest if word not in words]
    if rest and (mark := _thousands(rest, reading)):
        if mark == other and not any(reading.decimal in word for word in rest):
            both = f"--decimal={other} or --thousands={other}"
            return _problem(fault, finding, f"{both} goes on: only you know which.")
        fix["thousands"], rest = mark, []
    elif rest and all(is_number(word, other) for word in rest):
        fix["decimal"], rest = other, []
    if words:
        fix |= {"missing": (*reading.missing, *words), "drop_missing": True}
    if rest:
        return _problem(fault, finding, "Correct these cells, or name another column.")
    ways = Reading(**fix).options()
    return _problem(fault, finding, f"{' '.join(ways)} goes on.", fix)


def _thousands(words: list[str], reading: Reading) -> str | None:
    """The mark between thousands that makes all of these words numbers."""
    for mark in THOUSANDS:
        pattern = grouped(mark, reading.decimal)
        if mark != reading.decimal and all(re.match(pattern, word) for word in words):
            return mark
    return None


def _no_time(fault: Fault, reading: Reading) -> Problem:
    finding = f"{fault.count:,} cells are no times that can be compared: {fault.examples}"
    if "zone" in fault.must:
        finding = f"{fault.count:,} cells must {fault.must}, got {fault.examples}"
        return _problem(fault, finding, "Give all times a zone, or none.")
    pl = polars_module()
    forms = [] if reading.time_format else matching_formats(pl.Series(list(fault.words)))
    if not forms:
        return _problem(fault, finding, "--time-format says how to read them: '%m/%d/%Y' say.")
    remedy = f"--time-format='{forms[0]}' reads them."
    if len(forms) > 1:
        remedy += f" So does {forms[1]!r}: these days do not tell which is meant."
    return _problem(fault, finding, remedy, {"time_format": forms[0]} if len(forms) == 1 else {})
