"""What a refit of a belief's sites changed."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Matrix

SWEEPS = 50
"""The most sweeps of a refit, unless told otherwise."""

FIRST_REFIT, MUCH = 20.0, 1.5
"""An agent's belief refits at so many rewards, and if they have grown by so much at once."""

TOLERANCE = 1e-3
"""A refit ends when no reward's linear predictor moves by more, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Refit:
    """Expectation propagation over all rewards that a belief keeps, sweep after sweep.

    `change` is how far a linear predictor of any reward moved in the last sweep: the larger of its
    mean's change in standard deviations, and of its log standard deviation's.  The other two say
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
