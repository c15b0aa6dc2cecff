"""Names that look alike, and columns of names that cannot be what they are said to be."""

from collections.abc import Iterable, Sequence

from hierbandits.logs.limits import LIMITS
from hierbandits.logs.names import look_of
from hierbandits.logs.problem import SHOWN_ROWS, Problem
from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Indices, Name

MOST_NAMES = 200_000  # to be compared with each other
MANY_ARMS = 1_000
SHOWN_GROUPS = 5


def name_problems(
    what: str, column: str, names: Sequence[Name], counts: Indices, firsts: Indices
) -> list[Problem]:
    """What is odd about the names of tasks or arms.

    `counts` are their rows, and `firsts` the row in which each of them occurs first, by place.
    """
    rows, problems = int(counts.sum()), []
    if what == "task" and len(names) > 20 and 2 * len(names) > rows:
        problems.append(
            Problem(
                stops=False, column=column, role=what,
                finding=f"{len(names):,} tasks in {rows:,} rows: most tasks have a row or two",
                effect="A task that never returns cannot learn. This may be the number of a row.",
                remedy="Name the column of what acts again and again: a store, a user, a ward.",
            )
        )  # fmt: skip
    if what == "arm" and len(names) > MANY_ARMS:
        problems.append(
            Problem(
                stops=False, column=column, role=what,
                finding=f"{len(names):,} arms, with {rows / len(names):,.1f} rows each on average",
                effect="Work grows with the square of the number of arms, and most of them are "
                "hardly known. These may be ids, amounts or times.",
                remedy="Name the column of what was chosen, or group the arms.",
            )
        )  # fmt: skip
    if "" in names:
        problems.append(
            Problem(
                stops=False, column=column, role=what, count=int(counts[names.index("")]),
                rows=_rows([names.index("")], firsts),
                finding=f"there is {_one(what)} whose name is empty",
                effect=f"Empty text counts as {_one(what)} of its own.",
                remedy="If it stands for a missing cell, --strip says so; --drop-missing then "
                "leaves its rows out.",
                fix={"strip": True, "drop_missing": True},
            )
        )  # fmt: skip
    long = [place for place, name in enumerate(names) if len(str(name)) > LIMITS.name_length]
    if long:
        problems.append(
            Problem(
                stops=True, column=column, role=what, count=int(counts[long].sum()),
                rows=_rows(long, firsts),
                finding=f"names of more than {LIMITS.name_length:,} characters",
                effect="These are hardly names.", remedy="Name another column.",
            )
        )  # fmt: skip
    return problems + _look_alikes(what, column, names, counts, firsts)


def _rows(places: Iterable[int], firsts: Indices) -> tuple[int, ...]:
    """The first rows of some names; one that is listed and never played has none."""
    met = (int(firsts[place]) for place in places if place < firsts.size and firsts[place] >= 0)
    return tuple(sorted(met)[:SHOWN_ROWS])


def _look_alikes(
    what: str, column: str, names: Sequence[Name], counts: Indices, firsts: Indices
) -> list[Problem]:
    """Names that differ in spaces alone, and names that differ in more than that."""
    spaces: list[list[int]] = []
    others: list[list[int]] = []
    for group in alike(names):
        stripped = {str(names[place]).strip() for place in group}
        (spaces if len(stripped) == 1 else others).append(group)
    problems = []
    for groups, how, remedy, fix in (
        (spaces, "spaces around them", "--strip makes them one.", {"strip": True}),
        (others, "case, spaces or the form of letters",
         "If they are the same, --merge-names makes them one.", {}),
    ):  # fmt: skip
        if groups:
            shown = "; ".join(
                " and ".join(_counted(names[place], counts[place]) for place in group)
                for group in groups[:SHOWN_GROUPS]
            )
            more = len(groups) - SHOWN_GROUPS
            rare = [
                place
                for group in groups
                for place in sorted(group, key=lambda place: -counts[place])[1:]
            ]
            problems.append(
                Problem(
                    stops=False, column=column, role=what,
                    count=int(counts[rare].sum()), rows=_rows(rare, firsts),
                    finding=f"{what}s that differ in {how} alone: {shown}"
                    + (f"; and {more:,} more groups" if more > 0 else "")
                    + "; the rarer ones are in",
                    effect=f"Each spelling counts as {_one(what)} of its own.",
                    remedy=remedy, fix=fix,
                )
            )  # fmt: skip
    return problems


def _one(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def _counted(name: Name, count: int) -> str:
    return f"{shown_name(name)!r} ({count:,} row{'s' if count != 1 else ''})"


def alike(names: Sequence[Name]) -> list[list[int]]:
    """The places of names that look the same to people, two and more in a group."""
    if len(names) > MOST_NAMES:
        return []
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if isinstance(name, str):
            groups.setdefault(look_of(name), []).append(place)
    return [group for group in groups.values() if len(group) > 1]
