"""What an inspection found in a log, for people and for programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, Any

from hierbandits.logs.column_profile import ColumnProfile
from hierbandits.logs.log_summary import LogSummary, Table
from hierbandits.logs.problem import Problem
from hierbandits.logs.reading import Reading
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from rich.console import Console

OPTIONS = ("task", "arm", "features", "reward", "propensity", "eligible", "time", "population")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Inspection:
    """The columns of a log, what it holds, and all that is wrong with it.

    Without roles it proposes some.  With roles it has a summary of the rows that can be read.
    """

    source: str  # the path, or what kind of frame it is
    num_rows: int
    columns: tuple[ColumnProfile, ...]
    roles: Mapping[str, Any]  # which column holds what, as it was said
    proposal: Mapping[str, str]  # which column may hold what; empty if roles were given
    summary: LogSummary | None = field(repr=False)  # None if no row can be read, or without roles
    problems: tuple[Problem, ...]
    reading: Reading  # the one that was given
    is_file: bool

    @property
    def is_sound(self) -> bool:
        """Whether the log is read as it is."""
        return not any(problem.stops for problem in self.problems)

    @property
    def suggested(self) -> Reading:
        """A reading with all that goes on; what no reading repairs remains."""
        changes = {name: getattr(self.reading, name) for name in self.reading.to_dict()}
        for problem in self.problems:
            for name, value in problem.fix.items():
                old = changes.get(name, ())
                changes[name] = (*old, *(w for w in value if w not in old)) if (
                    name == "missing"
                ) else value  # fmt: skip
        return Reading(**changes)

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that go on from here: the next look, or `learn` and, if it can, `evaluate`.

        `evaluate` takes arms, and needs to know how likely they were.
        """
        roles = {name: part for name, part in self.roles.items() if part is not None}
        if not roles:
            return (self._command("inspect", dict(self.proposal)),)
        of_choice = {"propensity", "eligible"} & set(roles)  # `learn` does without them
        left = {name: part for name, part in roles.items() if name not in of_choice}
        learned = self._command("learn", left, *(["--agent=agent.hb"] if "arm" in roles else []))
        if "arm" in roles and of_choice:
            return learned, self._command("evaluate", roles)
        return (learned,)

    def _command(self, what: str, roles: Mapping[str, Any], *more: str) -> str:
        parts = ["hierbandits", what, quote(self.source) if self.is_file else "LOG"]
        for name in (*OPTIONS, "decision"):
            given = roles.get(name, ())
            for column in (given,) if isinstance(given, str) else given:
                parts.append(f"--{name}={quote(column)}")
        return " ".join([*parts, *self.suggested.options(), *more])

    def tables(self) -> list[Table]:
        """Headings, names of columns and rows of all tables."""
        names = ("column", "kind", "different", "missing", "from, to", "examples")
        shown: list[Table] = [] if self.summary is None else self.summary.tables()
        cells = [profile.cells() for profile in self.columns]
        return [*shown, (f"Columns, {self.num_rows:,} rows", names, cells)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        data: dict[str, Any] = plain(
            {
                "source": self.source,
                "rows": self.num_rows,
                "sound": self.is_sound,
                "roles": dict(self.roles),
                "proposal": dict(self.proposal),
                "problems": self.problems,
                "columns": self.columns,
                "summary": self.summary,
                "reading": self.reading,
                "suggested": self.suggested,
                "commands": self.commands,
            }
        )
        return data

    def show(self, console: "Console | None" = None) -> None:
        """Print the tables, the problems and the command that goes on."""
        from rich.console import Console

        console = console or Console()
        for heading, names, rows in self.tables():
            numbers = (2, 3, 4) if heading.startswith("Columns") else range(1, len(names))
            right = () if heading == "The log" else numbers
            console.print(terminal_table(names, rows, right, title=heading))
            console.print()
        for line in self.lines():
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    def lines(self) -> list[str]:
        """The problems and the command that goes on, a line or a few for each."""
        lines = []
        for problem in sorted(self.problems, key=lambda problem: not problem.stops):
            lines.append(f"{'Problem' if problem.stops else 'Look at this'}: {problem}")
        if not self.problems and self.summary is not None:
            lines.append("No problems.")
        if self.problems:
            lines.append("Rows are counted from 0; a header is not a row.")
        if not self.is_sound:
            lines.append("A log is refused while it has problems; options and rows are above.")
        lines.append("")
        first = "Go on with: " if self.roles else "Perhaps: "
        for command in self.commands:
            lines.append(first + command)
        return lines

    def __repr__(self) -> str:
        stops = sum(problem.stops for problem in self.problems)
        return (
            f"<Inspection of {self.num_rows:,} rows and {len(self.columns)} columns: "
            f"{stops} problems that stop, {len(self.problems) - stops} to look at>"
        )
