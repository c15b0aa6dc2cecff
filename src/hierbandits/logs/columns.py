"""Which column of a log holds what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

_SHOWN = 20  # columns that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column holds what; the arm played or its features, and whatever else was logged.

    With an arm, features are columns of the context: who comes, in numbers, text or booleans.  An
    `Encoder` makes the arms' features of them.
    """

    task: str
    reward: str
    arm: str | None = None
    features: str | Sequence[str] | None = None  # one column of lists, or a column for each
    population: str | None = None  # of the row's task
    decision: str | None = None  # an id, different in every row
    propensity: str | None = None  # the probability with which the arm was chosen
    eligible: str | None = None  # lists of arms; in a CSV they are separated by |
    time: str | None = None  # numbers, or dates; as text 2024-03-14T09:30, or see `Reading`

    def __post_init__(self) -> None:
        if self.arm is None and self.features is None:
            raise ValueError("one of arm and features must be given, got None and None")
        if self.arm is not None and isinstance(self.features, str):
            object.__setattr__(self, "features", (self.features,))
        if self.eligible is not None and self.arm is None:
            raise ValueError(f"eligible must come with arm, got {self.eligible!r} with features")
        if self.features is not None and not isinstance(self.features, str):
            object.__setattr__(self, "features", tuple(self.features))
            if not self.features:
                raise ValueError("features must name at least one column, got none")
        roles = self._roles()
        for role, name in roles:
            if not isinstance(name, str):
                raise ValueError(f"{role} must be a column's name, a string, got {name!r:.80}")
        seen = (self.arm, *self.context)
        if len(set(seen)) < len(seen):
            raise ValueError(f"arm and features must be different columns, got {seen!r:.200}")
        for alone in ("reward", "propensity"):  # neither may explain itself
            others = [role for role, name in roles if name == getattr(self, alone)]
            if len(others) > 1:
                both = " and ".join(others)
                raise ValueError(f"{alone} must have a column of its own, got one for {both}")
        if self.task in (self.arm, self.population):
            other = "arm" if self.task == self.arm else "population"
            raise ValueError(f"task and {other} must be different columns, got {self.task!r}")

    @classmethod
    def named(cls, columns: Mapping[str, Any]) -> "Columns":
        """The columns that a caller names; task and reward must be among them."""
        if columns["task"] is None or columns["reward"] is None:
            raise ValueError(
                "task and reward must name columns, got "
                f"{columns['task']!r} and {columns['reward']!r}"
            )
        return cls(**columns)

    @property
    def names(self) -> list[str]:
        """All columns that are read, each once."""
        return list(dict.fromkeys(name for _, name in self._roles()))

    @property
    def context(self) -> tuple[str, ...]:
        """The columns that describe who comes, where there are arms."""
        if self.arm is None or self.features is None:
            return ()
        return tuple(self.features)

    @property
    def numeric(self) -> set[str]:
        """The columns that hold a number in each cell, and those of a context, which may."""
        given = [self.reward, self.propensity]
        apart = () if isinstance(self.features, str) or self.features is None else self.features
        return {name for name in (*given, *apart) if name is not None}

    @property
    def roles(self) -> dict[str, str | tuple[str, ...]]:
        """The roles that are filled, and the columns that fill them."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {role: part for role, part in given.items() if part is not None}

    def _roles(self) -> list[tuple[str, str]]:
        """Each role that is filled, and the name of its column; features have one role each."""
        return [
            (role, name)
            for role, part in self.roles.items()
            for name in (part if isinstance(part, tuple) else (part,))
        ]


def check_columns(names: Sequence[str], present: Sequence[str]) -> None:
    """Raise an error that names a column which a log does not have, or has twice."""
    for name in names:
        if present.count(name) == 1:
            continue
        if name in present:
            raise ValueError(f"columns must each occur once, got {name!r} among {_some(present)}")
        by_letters = {str(one).strip().casefold(): one for one in present}
        close = get_close_matches(name.strip().casefold(), by_letters, 1)
        hint = f": did you mean {by_letters[close[0]]!r}?" if close else ""
        raise ValueError(
            f"columns must be in the log, got {name!r}, not among {_some(present)}{hint}"
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{list(names[:_SHOWN])!r}{more}"
