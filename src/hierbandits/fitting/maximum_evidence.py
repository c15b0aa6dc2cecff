"""Learn a hierarchy's widths from past data: exact evidence, EM, then L-BFGS."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.populations import checked_population
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import count, positive, real_array
from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.fit import Fit
from hierbandits.fitting.means import Means
from hierbandits.fitting.objective import Objective
from hierbandits.fitting.search import search
from hierbandits.fitting.structure import Structure, StructureKind, not_singular
from hierbandits.fitting.units import Units, checked_squares, checked_sums, noise_scale
from hierbandits.fitting.weak_prior import WeakPrior
from hierbandits.fitting.width_errors import learned_widths, pseudo_inverse
from hierbandits.fitting.width_intervals import with_intervals
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Indices, Vector


def fit_prior(
    sums: TaskSums,
    *,
    population: ArrayLike | None = None,
    structure: StructureKind = "diagonal",
    hyper_mean: ArrayLike | None = None,
    hyper_cov: ArrayLike | None = None,
    noise_std: float | None = None,
    squares: ArrayLike | None = None,
    rank: int = 1,
    weak_priors: bool = True,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    intervals: bool = True,
) -> Fit:
    """The two-level hierarchy that maximises the exact log evidence of the summed rewards.

    `population` numbers the population of each task from 0; without it there is one.  Learned:
    task_cov; noise_std, unless given; if several populations have data, hyper_mean and hyper_cov,
    unless given.  One population cannot tell hyper_cov from mu itself: by default hyper_mean is
    then 0 and hyper_cov diagonal and wide, its width 100 root mean square rewards over the root
    mean square of the feature, so that widths are as by restricted maximum likelihood.

    `structure` holds for task_cov and hyper_cov: scalar, diagonal, full, or low-rank (`rank`
    factors plus a diagonal); with arms also common, a diagonal plus a part that all arms of a task
    have in common.

    With arms, `squares` has the sum of the squared rewards of each task and arm, (tasks, K).  Then
    each arm has its noise, `noise_width`; the prior's noise_std is their root mean square over the
    rewards, as a hierarchy has one noise.

    Weak priors keep few tasks from giving nonsense.  `Units` makes the residuals of one fit to all
    tasks have size one.  In these units a weak prior adds (log det Sigma - tr Sigma) / 2 to the log
    evidence for each learned covariance (for a scalar one, and for each variance of a common one or
    beside the factors of a low-rank one, (log var - var) / 2; loadings are normal), and
    -(log var + v / var) / 200 for a learned noise, with the variance v of rewards about their
    task's own fit, `noise_scale` (for noises of arms, this of the mean of their logs, about which
    these are normal with a standard deviation of 1).  The first term keeps Sigma
    away from zero, where the evidence is flat; it weighs about as much as one task.  Without data
    all widths are the units.  Without weak priors the fit is by maximum likelihood; a width may
    then end at a bound, exp(-14) of the units, that stands for zero.

    EM, monotone, comes first; then L-BFGS on logs and Cholesky factors until an iteration gains
    less than `tolerance`.  Without `intervals` a fit takes a fraction of the time.
    """
    sums = checked_sums(sums)
    rows, ranks = _ranked(sums, population)
    checked_structure = Structure.of(structure, sums.xy.shape[1], rank, sums.is_armed)
    max_iterations = count("max_iterations", max_iterations, least=1)
    tolerance = float(positive("tolerance", tolerance, ()))
    if not weak_priors and rows.size == 0:
        raise ValueError("sums must hold an event when weak_priors is False, got none")
    units = Units.of(sums, isotropic=structure == "scalar")
    many = bool(ranks.max(initial=0) > 0)
    by_arm = None
    if squares is not None:
        by_arm = units.scaled_squares(sums, checked_squares(squares, sums, noise_std))
    scaled = units.scaled(sums, rows)
    weak = WeakPrior.none()
    if weak_priors:
        weak = WeakPrior.of(structure, sums.xy.shape[1], noise_scale(scaled, units.lost))
    objective = Objective(
        sums=scaled,
        population=ranks,
        num_populations=int(ranks.max(initial=-1)) + 1,
        structure=checked_structure,
        start=_given(
            units, checked_structure, hyper_mean, hyper_cov, noise_std, sums.is_armed, many
        ),
        learns_noise=noise_std is None,
        learns_mean=many and hyper_mean is None,
        learns_hyper=many and hyper_cov is None,
        weak=weak,
        squares=by_arm,
    )
    if by_arm is not None:
        noises = np.full(by_arm.size, objective.start.noise_var)
        objective = replace(objective, start=replace(objective.start, noise_var=noises))
    return fit_objective(objective, units, max_iterations, tolerance, intervals)


def _ranked(sums: TaskSums, population: ArrayLike | None) -> tuple[Indices, Indices]:
    """The tasks with data, population by population, and the rank of each task's population."""
    num_tasks = len(sums.n)
    of_task: Indices = np.zeros(num_tasks, np.intp)
    if population is not None:
        of_task, _ = checked_population(population, num_tasks=num_tasks)
    rows = np.flatnonzero(sums.n > 0)
    rows = rows[np.argsort(of_task[rows], kind="stable")]
    return rows, np.unique(of_task[rows], return_inverse=True)[1]


def _given(
    units: Units,
    structure: Structure,
    hyper_mean: ArrayLike | None,
    hyper_cov: ArrayLike | None,
    noise_std: float | None,
    armed: bool,
    many: bool,
) -> HierarchyParts:
    """Where the search starts, in units of the data; it checks and includes what was given."""
    dim, diagonal = structure.dim, structure.is_diagonal
    free = many and hyper_cov is None
    if hyper_mean is not None:
        mean = real_array("hyper_mean", hyper_mean, (dim,), " to match sums")
    else:
        mean = units.centre if many else np.zeros(dim)
    if hyper_cov is not None:
        alone = diagonal or (armed and np.ndim(hyper_cov) == 1)
        cov = real_array("hyper_cov", hyper_cov, (dim,) if alone else (dim, dim), " to match sums")
        if alone and (cov < 0).any():
            raise ValueError(f"hyper_cov must not be negative for any arm, got {cov.min()}")
    else:
        cov = units.parameter**2 if many else units.wide**2
        cov = cov if armed else np.diag(cov)
    noise = units.reward * np.sqrt(0.5)
    if noise_std is not None:
        noise = float(positive("noise_std", noise_std, ()))
    task = 0.25 * units.parameter**2
    covs = [cov, task if diagonal else np.diag(task)]
    checked = GaussianHierarchy.of_levels(hyper_mean=mean, covs=covs, noise_std=noise, armed=armed)
    return HierarchyParts(
        hyper_mean=(checked.hyper_mean - units.centre) / units.parameter,
        hyper_cov=structure.start(1.0) if free else units.cov_in(checked.hyper_cov),
        task_cov=structure.start(0.25),
        noise_var=(noise / units.reward) ** 2,
    )


def fit_objective(
    objective: Objective, units: Units, max_iterations: int, tolerance: float, intervals: bool
) -> Fit:
    """The top of an objective, back in the log's units, and how sure it is."""
    free, trace = search(objective, max_iterations, tolerance)
    value, slope = objective.value_and_slope(free)
    information = objective.curvature(free, slope)
    covariance = pseudo_inverse(information)
    marginal = objective.log_marginal(free, value, information)
    shift = objective.sums.n.sum() * np.log(units.reward)
    hierarchy = objective.hierarchy(free)
    task_cov = units.cov_out(hierarchy.task_cov)
    noise_std = units.reward * np.sqrt(np.atleast_1d(hierarchy.noise_var))
    prior = GaussianHierarchy.of_levels(
        hyper_mean=units.centre + units.parameter * hierarchy.hyper_mean,
        covs=[
            units.cov_out(hierarchy.hyper_cov),
            task_cov if objective.structure.is_diagonal else not_singular(task_cov),
        ],
        noise_std=_one_noise(objective, noise_std),
        armed=objective.sums.is_armed,
    )
    widths = learned_widths(objective, free, covariance, prior, noise_std)
    if intervals:
        widths = with_intervals(widths, objective, units, free, covariance)
    return Fit(
        prior=prior,
        structure=objective.structure.kind,
        log_marginal=None if marginal is None else float(marginal - shift),
        log_evidence=float(value - objective.log_prior(hierarchy) - shift),
        trace=np.array(trace) - shift,
        iterations=len(trace) - 1,
        converged=bool(abs(slope @ covariance @ slope) / 2 < 1e-3),
        at_bound=bool(objective.at_bound(free).any()),
        means=Means.of(objective, units, free, covariance) if intervals else None,
        **widths,
    )


def _one_noise(objective: Objective, noise_std: Vector) -> float:
    """The noise of all rewards together: the root mean square over them."""
    if noise_std.size == 1:
        return float(noise_std[0])
    events = objective.sums.xx.sum(0)
    weights = events if events.any() else np.ones(noise_std.size)
    largest = noise_std.max()  # its square may be no number
    return float(largest * np.sqrt(np.average((noise_std / largest) ** 2, weights=weights)))
