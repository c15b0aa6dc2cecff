"""When a belief refits its sites, and what that changed."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Indices, Mask, Matrix, Vector

SWEEPS = 50
"""The most sweeps of a refit, unless told otherwise."""

TOLERANCE = 1e-3
"""A refit ends when no linear predictor or hyper-posterior moves by more, in its deviations."""

FIRST_REFIT, MUCH = 20.0, 1.5
"""A population's rewards are refitted at so many, and if they grew by so much at once."""

FEW_SWEEPS, CALM = 8, 0.05
"""If less is new, there are so many sweeps at most, until none of these moves by more."""

SURPRISE = 0.05
"""If a reward's task moves so far as it matches again, all others of the population do, too."""

ROWS_EACH = 400
"""Rows that a surprise may match again for each reward since the last time."""


def much_is_new(rewards: Vector, due: Vector, growth: float) -> Mask:
    """Whether so much is new in populations that are due that they are refitted to the end."""
    is_much: Mask = (due == FIRST_REFIT) | (growth * rewards >= MUCH * due)
    return is_much


def surprise_due(rows: Indices, swept: Vector) -> Vector:
    """The rewards at which populations of so many rows may all match again after a surprise.

    They did so at `swept` rewards.  So a reward costs so much and no more, however many rows there
    are.
    """
    due: Vector = swept + rows / ROWS_EACH
    return due


def hyper_moves(before: tuple[Matrix, Matrix], after: tuple[Matrix, Matrix]) -> Vector:
    """How far the hyper-posterior of each population moved, from means and widths to others."""
    known = (before[1] > 0) & (after[1] > 0)
    std = np.where(known, after[1], 1.0)
    shift = np.where(known, np.abs(after[0] - before[0]) / std, 0.0)
    ratio = np.abs(np.log(std / np.where(known, before[1], 1.0)))
    moves: Vector = np.maximum(shift, ratio).max(axis=1, initial=0.0)
    return moves


@dataclass(frozen=True, slots=True)
class Refit:
    """Expectation propagation over all rewards that a belief keeps, sweep after sweep.

    `change` is how far a linear predictor of any reward, or a coordinate of a hyper-posterior,
    moved in the last sweep: the larger of its mean's change in standard deviations, and of its log
    standard deviation's.  The other two say
    what all sweeps together did to the populations' hyper-posteriors: the furthest that a
    coordinate's mean moved, in standard deviations, and its largest log ratio of widths.
    """

    sweeps: int
    change: float
    is_converged: bool
    hyper_shift: float
    hyper_log_width: float

    @classmethod
    def between(
        cls,
        before: tuple[Matrix, Matrix],
        after: tuple[Matrix, Matrix],
        sweeps: int,
        change: float,
        tolerance: float,
    ) -> "Refit":
        """Of so many sweeps; `before` and `after` are hyper-posteriors' means and widths."""
        known = after[1] > 0
        shift = np.abs(after[0] - before[0])[known] / after[1][known]
        ratio = np.log(after[1][known] / before[1][known])
        return cls(
            sweeps,
            change,
            change <= tolerance,
            float(shift.max(initial=0.0)),
            float(ratio[np.argmax(np.abs(ratio))]) if ratio.size else 0.0,
        )
