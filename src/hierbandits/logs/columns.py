"""Which column of a log holds what."""

from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column holds what; the arm played or its features, and whatever else was logged."""

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
        if (self.arm is None) == (self.features is None):
            raise ValueError(
                f"one of arm and features must be given, got {self.arm!r} and {self.features!r}"
            )
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
        for alone in ("reward", "propensity"):  # neither may explain itself
            others = [role for role, name in roles if name == getattr(self, alone)]
            if len(others) > 1:
                both = " and ".join(others)
                raise ValueError(f"{alone} must have a column of its own, got one for {both}")
        if self.task in (self.arm, self.population):
            other = "arm" if self.task == self.arm else "population"
            raise ValueError(f"task and {other} must be different columns, got {self.task!r}")

    @property
    def names(self) -> list[str]:
        """All columns that are read, each once."""
        return list(dict.fromkeys(name for _, name in self._roles()))

    @property
    def numeric(self) -> set[str]:
        """The columns that hold a number in each cell."""
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
