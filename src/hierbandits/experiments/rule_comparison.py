"""How rules compare over worlds: each with the best rule, which other seeds have picked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from hierbandits.simulation.study import mean_and_error, ratio_and_error
from hierbandits.types import Vector

NEAR = 1.1
"""A rule is near the best if its regret is at most so many times the best rule's."""

TOO_MUCH = 2.0
"""A rule that anywhere has more than so many times HierTS's regret is nowhere the best."""

LARGEST_ERROR = 0.02
"""The standard error of a comparison beyond which it is called unsure."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """The regret of every rule in the runs of a world, up to a horizon."""

    world: str
    horizon: int
    regret: Mapping[str, Vector]  # by rule, (runs,) each, of the same runs

    @property
    def runs(self) -> int:
        """The number of runs of each rule."""
        return len(next(iter(self.regret.values())))

    def mean(self, name: str) -> tuple[float, float]:
        """The mean regret of a rule and its standard error."""
        return mean_and_error(self.regret[name])

    def ratio(self, name: str, other: str, first: int = 0) -> tuple[float, float]:
        """The mean regret of a rule over another's and its standard error, from a run on."""
        return ratio_and_error(self.regret[name][first:], self.regret[other][first:])

    def joined(self, other: "Cell") -> "Cell":
        """The runs of both, of the same rules in the same world."""
        regret = {
            name: np.concatenate([self.regret[name], other.regret[name]]) for name in self.regret
        }
        return Cell(self.world, self.horizon, regret)

    def runs_needed(self, name: str, other: str) -> int:
        """About how many runs the ratio of two rules needs for an error of LARGEST_ERROR."""
        return ceil(self.runs * (self.ratio(name, other)[1] / LARGEST_ERROR) ** 2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a rule compares with the best rule of a cell."""

    best: str
    ratio: float  # its regret over the best rule's
    error: float  # the standard error of the ratio

    @property
    def is_near(self) -> bool:
        """Whether the rule is about as good as the best."""
        return self.ratio <= NEAR


class Comparison:
    """Rules in many cells."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.cells = cells

    @property
    def names(self) -> list[str]:
        """The rules."""
        return list(self.cells[0].regret)

    def frame(self) -> Any:
        """All regrets as a polars frame: a row for each world, horizon, rule and run."""
        import polars as pl

        parts = []
        for cell in self.cells:
            for name, regret in cell.regret.items():
                runs = np.arange(regret.size)
                columns = {"world": [cell.world] * regret.size, "n": [cell.horizon] * regret.size}
                columns |= {"policy": [name] * regret.size, "run": runs, "regret": regret}
                parts.append(pl.DataFrame(columns))
        return pl.concat(parts)

    def spread(self, name: str) -> tuple[float, float, float]:
        """The geometric mean, the least and the most of a rule's regret over HierTS's."""
        ratios = np.array([cell.ratio(name, "HierTS")[0] for cell in self.cells])
        return float(np.exp(np.log(ratios).mean())), float(ratios.min()), float(ratios.max())

    @property
    def excluded(self) -> list[str]:
        """The rules that somewhere have too much regret."""
        return [name for name in self.names if self.spread(name)[2] > TOO_MUCH]

    @property
    def allowed(self) -> list[str]:
        """The rules that nowhere have too much regret."""
        excluded = self.excluded
        return [name for name in self.names if name not in excluded]

    def rivals(self, name: str) -> list[str]:
        """The rule of least regret in each cell, of the others that are allowed."""
        others = [other for other in self.allowed if other != name]
        return [min(others, key=lambda other: cell.mean(other)[0]) for cell in self.cells]

    def verdicts(self, name: str) -> list[Verdict]:
        """A rule against the best of each cell: picked on half of the runs, judged on the other."""
        allowed = self.allowed
        verdicts = []
        for cell in self.cells:
            half = cell.runs // 2
            means = [float(cell.regret[other][:half].mean()) for other in allowed]
            best = allowed[int(np.argmin(means))]
            verdicts.append(Verdict(best, *cell.ratio(name, best, half)))
        return verdicts
