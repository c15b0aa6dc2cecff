"""A reward that is replaced by another: what changes, and whether enough digits are left."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums

LOSS = 1e-10
"""The rounding error, in units of what is usual, beyond which a correction is refused."""

REFUSED = (
    "old_reward must not be so large that the digits of others are lost, got {}: make a new belief "
    "of what remains, by from_sums or learn_past"
)

_ROUNDING = float(np.finfo(float).eps)
_LESS = 0.99  # of a size: no digits are lost while it stays as large


@dataclass(frozen=True, slots=True, eq=False)
class Revision:
    """What a belief will know of an event whose reward is replaced."""

    nodes: Nodes
    evidence: Evidence
    node: int
    row: Any  # features (d,), or an arm's index
    amount: float  # the change of the reward over the noise variance
    mean: float  # of x @ theta
    new_mean: float
    std: float  # of x @ theta
    change: float  # of the sum of e^2 / V
    size: float  # the square of the old reward, or of the mean if that is larger, over the noise's
    new_size: float

    @classmethod
    def of(
        cls,
        nodes: Nodes,
        evidence: Evidence,
        node: int,
        row: Any,
        old: float,
        new: float,
        noise_var: float | None = None,  # None: the hierarchy's own
    ) -> "Revision":
        """Replace the reward of an event, which was checked before."""
        var = noise_var or float(nodes.levels.noise_var[nodes.forest.level[node]])
        known, amount = np.empty((3, 1)), (new - old) / var
        rows = np.zeros(1, np.intp)
        nodes.levels.form.loops.predict(
            nodes.arrays, np.array([node]), np.array([row]), rows, known
        )
        mean, within, shared = known[:, 0].tolist()
        new_mean = mean + (within + shared) * amount
        # The evidence's quadratic form has the gradient 2 (y - x @ mean) / var, linear in y.
        change = amount * ((old - mean) + (new - new_mean))
        std = float(np.sqrt(within + shared))
        # Products, since powers would raise an error where they overflow.
        size, new_size = (
            max(old * old, mean * mean) / var,
            max(new * new, new_mean * new_mean) / var,
        )
        return cls(nodes, evidence, node, row, amount, mean, new_mean, std, change, size, new_size)

    @property
    def leaves_digits(self) -> bool:
        """Whether means and the evidence keep theirs."""
        population = self.nodes.forest.population(self.node)
        square, count = float(self.evidence.square[population]), self.evidence.count[population]
        return (
            isfinite(self.size + self.new_size)
            and _leaves_digits(square, square + self.change, float(count))
            and _leaves_digits(self.size, self.new_size, max(float(count), self.new_size))
            and _leaves_digits(abs(self.mean), abs(self.new_mean), self.std)
        )

    def make(self) -> None:
        """Let the nodes and the evidence know."""
        shift = self.nodes.levels.form.loops.shift
        shift(self.nodes.arrays, self.node, self.row, self.amount)
        self.evidence.square[self.nodes.forest.population(self.node)] += self.change


def sums_leave_digits(sums: TaskSums, old: float, new: float) -> bool:
    """Whether sums in which a reward is replaced still tell how large the others are."""
    some = np.flatnonzero(sums.yy > 0)
    if not some.size:
        return True
    before = float(sums.yy.sum())
    usual = float(sums.n.sum() * np.median(sums.yy[some] / sums.n[some]))
    return _leaves_digits(before, before - old**2 + new**2, usual)


def _leaves_digits(before: float, after: float, usual: float) -> bool:
    """Whether a number that falls from `before` is then known to LOSS times its usual size.

    Digits were lost when it grew, however many steps take it down.
    """
    return after >= _LESS * before or _ROUNDING * before <= LOSS * usual
