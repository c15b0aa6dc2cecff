"""What a refit of a belief's sites changed."""

from dataclasses import dataclass


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
