"""The default rule against the best others of a world, until their ratios are known."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from hierbandits.experiments.experiment import Options, StudyRunner
from hierbandits.experiments.rule_comparison import LARGEST_ERROR, Cell
from hierbandits.experiments.rule_game import Game
from hierbandits.policies.recipes import USUAL
from hierbandits.reporting.progress import Steps

PART = 2000
"""So many runs are played at the most before errors are looked at again."""

SPARE = 1.1
"""So many times the runs that seem to be needed: the error itself is not known exactly."""


@dataclass(slots=True, eq=False)
class Duel:
    """The default and its rivals in a game's world, on seeds of their own."""

    game: Game
    rivals: Sequence[str]  # one for each horizon
    most: int  # runs, at the most
    needed: int  # runs that errors of LARGEST_ERROR seem to need
    cells: list[Cell] = field(default_factory=list)  # one for each horizon; empty before all play
    _parts: int = 0

    @classmethod
    def of(cls, game: Game, first: Sequence[tuple[Cell, str]], most: int) -> "Duel":
        """The duel of a game, from its cells and the rival in each.

        `most` is the number of runs at the most, as a multiple of the game's own.
        """
        rivals = [rival for _, rival in first]
        return cls(game, rivals, most * game.runs, _needed([cell for cell, _ in first], rivals))

    @property
    def runs(self) -> int:
        """The runs that were played."""
        return self.cells[0].runs if self.cells else 0

    @property
    def wanted(self) -> int:
        """The runs that this duel will have in the end, as far as one can tell now."""
        return min(max(self.needed, self.game.runs, self.runs), self.most)

    @property
    def is_over(self) -> bool:
        """Whether the errors of all ratios are small, or no more runs are allowed."""
        if self.runs == 0:
            return False
        return self.runs >= self.most or all(
            cell.ratio(USUAL, rival)[1] <= LARGEST_ERROR
            for cell, rival in zip(self.cells, self.rivals, strict=True)
        )

    def play_on(self, options: Options, judging: Steps) -> None:
        """Play a part more, with a seed of its own, and see how many runs are needed."""
        least = max(self.runs // 10, 1)
        runs = min(max(self.wanted - self.runs, least), PART, self.most - self.runs)
        part = replace(self.game, runs=runs)
        names = list(dict.fromkeys([USUAL, *self.rivals]))
        before, total, steps = judging.done, judging.total, part.steps(names)
        own = replace(
            options,
            seed=options.seed + 1 + self._parts,
            progress=lambda done, _: judging.update(before + runs * done // steps, total),
        )
        new = part.play(StudyRunner(own, steps), names)
        old = self.cells
        self.cells = [a.joined(b) for a, b in zip(old, new, strict=True)] if old else new
        self._parts += 1
        self.needed = _needed(self.cells, self.rivals)


def _needed(cells: Sequence[Cell], rivals: Sequence[str]) -> int:
    """About how many runs all ratios need, and some to spare."""
    pairs = zip(cells, rivals, strict=True)
    return ceil(SPARE * max(cell.runs_needed(USUAL, rival) for cell, rival in pairs))


def judge(options: Options, duels: Sequence[Duel]) -> list[Cell]:
    """Play all duels to their ends; the regret of the default and of its rivals."""
    judging = Steps(None, options.progress)
    for duel in duels:
        while not duel.is_over:
            judging.total = sum(one.wanted for one in duels)
            duel.play_on(options, judging)
    return [cell for duel in duels for cell in duel.cells]
