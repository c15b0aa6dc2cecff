"""The result of a fit, and how sure it is."""

from dataclasses import dataclass

import numpy as np

from hierbandits.fitting.means import Means
from hierbandits.fitting.structure import StructureKind
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Mask, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Widths:
    """Learned standard deviations with 95 % intervals; with few tasks they hold less often.

    An interval holds the widths with which the log evidence, all else refitted, is at most 1.92
    below its top; see `with_intervals` and `miss_rates`.

    `maybe_zero` says where the data do not tell a width from zero.  If a width were zero, the log
    evidence without it would be further below its top than a limit in 1 of 40 logs; here it is not
    so far below.  The interval then starts at zero, and the error of the log says little.
    """

    std: Vector
    log_error: Vector  # standard errors of log std; NaN where it was given or has none
    low: Vector  # the ends of the intervals; NaN if the width was given, or none were asked for
    high: Vector
    maybe_zero: Mask
    at_bound: Mask  # where the search ended at the least or largest width that it allows

    @property
    def is_learned(self) -> bool:
        """Whether the widths were learned, not given."""
        return bool(np.isfinite(self.log_error).any())


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fit:
    """The prior that makes past rewards most probable, but for the weak priors of `fit_prior`.

    Errors come from the observed information: the curvature of the log evidence and weak priors.
    Where each arm has its noise, the prior, which has one for all, has the root mean square over
    the rewards.
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
    noise_width: Widths  # (1,), or (K,) if each arm has its own; no error if it was given
    hyper_widths: Widths  # roots of hyper_cov's diagonal, (d,); no error if it was not learned
    means: Means | None  # mu of each population, given the rewards; None without intervals

    @property
    def has_noise_by_arm(self) -> bool:
        """Whether each arm has its noise."""
        return self.noise_width.std.size > 1
