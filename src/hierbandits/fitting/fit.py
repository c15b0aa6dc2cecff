"""The result of a fit, and how sure it is."""

from dataclasses import dataclass

from hierbandits.fitting.structure import StructureKind
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Mask, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Learned standard deviations with 95 % intervals.

    `maybe_zero` says where the data do not tell a width from zero.  To test this, the width is made
    nearly zero and the rest is fitted again.  If the width were zero, the log evidence would fall
    by more than the limit in 1 of 40 logs; here it falls by less.  The interval then starts at
    zero, and the error of the log says little.

    The data show the variance of the tasks' estimates, std^2 + c, where c comes from the errors of
    the estimates.  Its log is taken to be normal.  c is chosen so that the log evidence has the
    curvature measured at the top and the loss measured at zero.  Where zero is ruled out by far, c
    is negligible, and the log of the width itself is normal.
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
    structure: StructureKind
    log_marginal: float | None  # widths integrated out by Laplace's method; see `Objective`
    log_evidence: float  # of all rewards, without the weak priors
    trace: Vector  # log evidence + weak priors at each iteration: it never falls
    iterations: int
    converged: bool  # whether, by the local quadratic, the top is less than 0.001 higher
    at_bound: bool  # whether a width, or the width of some direction, sits at a bound of the search
    task_widths: Widths  # roots of task_cov's diagonal, (d,)
    noise_width: Widths  # (1,); no error if it was given
    hyper_widths: Widths  # roots of hyper_cov's diagonal, (d,); no error if it was not learned
