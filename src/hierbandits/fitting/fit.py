"""What a fit found, and how sure it is."""

from dataclasses import dataclass

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Mask, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Learned standard deviations with 95 % intervals.

    `maybe_zero` says where the data do not tell a width from zero: nearly zero, with all else as
    good as it can then be, loses less log evidence than chance would in one of forty worlds
    where it is zero.  The log's error then says little, and the interval starts at zero.

    What the data see of a width is the spread of the tasks' estimates, std^2 + c with c their
    own errors' part.  Its log is taken as normal, with c such that the log evidence has the
    curvature found at the top and the loss found at zero.  Where zero is out of the question c
    is negligible and the log of the width itself is normal.
    """

    std: Vector
    log_error: Vector  # standard errors of log std; NaN where it was given or has none
    low: Vector  # the ends of the intervals; NaN where there is no error
    high: Vector
    maybe_zero: Mask
    at_bound: Mask  # where the search ended at the least or largest width that it allows


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fit:
    """The prior that makes past rewards most probable, but for the weak priors of `fit_prior`.

    Errors come from the observed information: the curvature of the log evidence and weak priors.
    """

    prior: GaussianHierarchy
    log_evidence: float  # of all rewards, without the weak priors
    trace: Vector  # log evidence + weak priors at each iteration: it never falls
    iterations: int
    converged: bool  # whether less than 0.001 is left to gain, by the local quadratic
    at_edge: bool  # whether a width, or the width of some direction, sits at a bound of the search
    task_widths: Widths  # roots of task_cov's diagonal, (d,)
    noise_width: Widths  # (1,); no error if it was given
    hyper_widths: Widths  # roots of hyper_cov's diagonal, (d,); no error if it was not learned
