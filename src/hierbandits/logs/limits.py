"""How large things may grow before they are refused."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hierbandits.checks import count
from hierbandits.types import Name

_DIGITS_PER_BIT = 0.30103


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is refused at once, with its size, in place of a machine that runs out of memory.

    A table has `cells`: a few for each task and arm, or, where arms have features or move
    together, for each task and pair of them.  Agents and logs keep two to four such tables, each
    of 1 GiB at the default.  To fit widths takes time in proportion to `fit`, about half an hour
    at the default.
    """

    tasks: int = 10_000_000
    arms: int = 100_000
    pending: int = 1_000_000  # decisions that await their rewards
    name_length: int = 1_000  # characters of a name or an id
    cells: int = 2**27  # numbers in a table of tasks
    fit: int = 10**9  # tasks x arms x arms, or tasks x features x features x features
    fit_arms: int = 1_000  # arms whose widths are fitted: a column of ids has more

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            object.__setattr__(self, name, count(name, value, least=1))

    def most_tasks(self, each: int) -> int:
        """How many tasks a table may have, of so many numbers each."""
        return min(self.tasks, self.cells // each)

    def check_table(self, num_tasks: int, dim: int, each: int, *, armed: bool) -> None:
        """Raise an error if there are too many arms, tasks, or numbers, `each` of a task."""
        if armed and dim > self.arms:
            raise ValueError(f"arms must be at most {self.arms:,} (limits.arms), got {dim:,}")
        if num_tasks > self.tasks:
            raise ValueError(
                f"tasks must be at most {self.tasks:,} (limits.tasks), got {num_tasks:,}"
            )
        if num_tasks > self.most_tasks(each):
            raise ValueError(
                f"a table must have at most {self.cells:,} cells (limits.cells), got "
                f"{num_tasks * each:,} for {num_tasks:,} tasks and {dim:,} "
                f"{'arms' if armed else 'features'}: {8 * num_tasks * each / 2**30:,.1f} GiB"
            )

    def check_fit(self, num_tasks: int, dim: int, *, armed: bool) -> None:
        """Raise an error if the widths of so many tasks would take too long to fit."""
        work = num_tasks * dim ** (2 if armed else 3)
        if work > self.fit:
            form = "arms x arms" if armed else "features x features x features"
            raise ValueError(
                f"log must have at most {self.fit:,} tasks x {form} (limits.fit), got {work:,} of "
                f"{num_tasks:,} tasks and {dim:,} {'arms' if armed else 'features'}: leave out "
                "what has few rows, or give other limits and much time"
            )
        if armed and dim > self.fit_arms:
            raise ValueError(
                f"log must have at most {self.fit_arms:,} arms whose widths are fitted "
                f"(limits.fit_arms, or --most-arms), got {dim:,}: if these are ids, amounts or "
                "times, name another column; if not, it takes many minutes"
            )

    def check_names(self, what: str, names: Iterable[Name]) -> None:
        """Raise an error if a name is too long."""
        most = self.name_length
        for name in names:
            size = len(name) if isinstance(name, str) else name.bit_length() * _DIGITS_PER_BIT
            if size > most:
                raise ValueError(
                    f"{what} must have at most {most:,} characters (limits.name_length), got "
                    f"{size:,.0f}"
                )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self)


LIMITS = Limits()
"""What is allowed unless other limits are given."""
