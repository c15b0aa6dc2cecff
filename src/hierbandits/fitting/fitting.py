"""Learn a hierarchy's widths from past data: exact evidence, EM, then L-BFGS."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from hierbandits.arrays import Matrix, Vector, count, positive, real_array
from hierbandits.fitting.expectation import Model
from hierbandits.fitting.fit import Fit, Widths
from hierbandits.fitting.problem import Problem
from hierbandits.fitting.structure import Shape, Structure
from hierbandits.fitting.units import Units, checked_sums
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.sums import TaskSums

_EM_STEPS = 10
_DROP = 1.920729410347062  # half the 95 % point of chi-squared with one degree of freedom


def fit_prior(
    sums: TaskSums,
    *,
    num_populations: int = 1,
    structure: Shape = "diagonal",
    hyper_mean: ArrayLike | None = None,
    hyper_cov: ArrayLike | None = None,
    noise_std: float | None = None,
    rank: int = 1,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
) -> Fit:
    """The two-level hierarchy that maximises the exact log evidence of the summed rewards.

    Tasks are split evenly over the populations, in order.  Learned: task_cov; noise_std, unless
    given; with several populations hyper_mean and hyper_cov, unless given.  One population
    cannot tell hyper_cov from mu itself: by default hyper_mean is then 0 and hyper_cov diagonal
    and wide, its width 100 root mean square rewards over the root mean square of the feature, so
    that widths are as by restricted maximum likelihood.

    `structure` holds for task_cov and hyper_cov: scalar, diagonal, full, or low-rank (`rank`
    factors plus a diagonal); with arms, scalar or diagonal.

    Weak priors keep few tasks from giving nonsense.  With the units of `Units`, in which one
    fit to all tasks together leaves residuals of size one, they add to the log evidence
    (log det Sigma - tr Sigma) / 2 for each learned covariance (a scalar one: log var - var, over
    2) and -(log var + 1 / var) / 200 for a learned noise.  The first keeps Sigma off zero, where
    the evidence is flat, as losing one task would; without data all widths are the units.

    EM, monotone, comes first; then L-BFGS on logs and Cholesky factors until an iteration gains
    less than `tolerance`.
    """
    sums = checked_sums(sums)
    num_populations = count("num_populations", num_populations, least=1)
    num_tasks, dim = sums.xy.shape
    if num_tasks % num_populations:
        raise ValueError(
            f"num_populations must divide the {num_tasks} tasks evenly, got {num_populations}"
        )
    form = Structure.of(structure, dim, rank, sums.is_armed)
    max_iterations = count("max_iterations", max_iterations, least=1)
    tolerance = float(positive("tolerance", tolerance, ()))
    units = Units.of(sums, isotropic=form.shape == "scalar")
    many = num_populations > 1
    given = _given(units, sums, hyper_mean, hyper_cov, noise_std, many)
    families = np.flatnonzero(sums.n > 0) // max(1, num_tasks // num_populations)
    seen, family = np.unique(families, return_inverse=True)
    problem = Problem(
        sums=units.scaled(sums),
        family=family,
        num_populations=seen.size,
        form=form,
        start=given,
        learns_noise=noise_std is None,
        learns_mean=many and hyper_mean is None,
        learns_hyper=many and hyper_cov is None,
    )
    return _fit(problem, units, max_iterations, tolerance)


def _given(
    units: Units,
    sums: TaskSums,
    hyper_mean: ArrayLike | None,
    hyper_cov: ArrayLike | None,
    noise_std: float | None,
    many: bool,
) -> Model:
    """Where the search starts, in units of the data; what was given is checked and in place."""
    dim, armed = sums.xy.shape[1], sums.is_armed
    ones = np.ones(dim)
    if hyper_mean is not None:
        mean = real_array("hyper_mean", hyper_mean, (dim,), " to match sums")
    else:
        mean = units.centre if many else np.zeros(dim)
    if hyper_cov is not None:
        cov = real_array("hyper_cov", hyper_cov, (dim,) if armed else (dim, dim), " to match sums")
        if armed and (cov < 0).any():
            raise ValueError(f"hyper_cov must not be negative for any arm, got {cov.min()}")
    else:
        cov = units.parameter**2 if many else units.wide**2
        cov = cov if armed else np.diag(cov)
    noise = units.reward * np.sqrt(0.5)
    if noise_std is not None:
        noise = float(positive("noise_std", noise_std, ()))
    task = 0.25 * units.parameter**2
    checked = _hierarchy(mean, cov, task if armed else np.diag(task), noise, armed)
    return Model(
        hyper_mean=(checked.hyper_mean - units.centre) / units.parameter,
        hyper_cov=units.cov_in(checked.hyper_cov),
        task_cov=0.25 * ones if armed else 0.25 * np.diag(ones),
        noise_var=(noise / units.reward) ** 2,
    )


def _fit(problem: Problem, units: Units, max_iterations: int, tolerance: float) -> Fit:
    model, trace = _em(problem, min(_EM_STEPS, max_iterations), tolerance)
    free = problem.free(model)
    value = problem.value_and_slope(free)[0]
    trace = [value] if problem.form.shape == "low-rank" else [*trace, value]
    left = max_iterations - len(trace) + 1
    while left > 0:  # a fresh start, which forgets the old curvature, confirms the top
        free, climbed = _climb(problem, free, trace[-1], left, tolerance)
        gain = climbed[-1] - trace[-1] if climbed else 0.0
        trace, left = trace + climbed, left - len(climbed)
        if gain < 10 * tolerance:
            break
    value, slope = problem.value_and_slope(free)
    covariance = _inverse(problem.curvature(free))
    shift = problem.sums.n.sum() * np.log(units.reward)
    model = problem.model(free)
    prior = _hierarchy(
        units.centre + units.parameter * model.hyper_mean,
        units.cov_out(model.hyper_cov),
        units.cov_out(model.task_cov),
        units.reward * np.sqrt(model.noise_var),
        problem.form.armed,
    )
    return Fit(
        prior=prior,
        log_evidence=float(value - problem.log_prior(model) - shift),
        trace=np.array(trace) - shift,
        iterations=len(trace) - 1,
        converged=bool(abs(slope @ covariance @ slope) / 2 < 1e-3),
        **_widths(problem, free, covariance, prior),
    )


def _em(problem: Problem, steps: int, tolerance: float) -> tuple[Model, list[float]]:
    """A few EM steps from the start; for low-rank, on full covariances, for a start near it."""
    if problem.form.shape == "low-rank":
        form = Structure("full", problem.form.dim, 1, False)
        problem = replace(problem, form=form)
    model = problem.start
    trace: list[float] = []
    for _ in range(steps):
        found = problem.expect(model)
        trace.append(found.log_evidence + problem.log_prior(model))
        model = problem.improved(model, found)
        if len(trace) > 1 and trace[-1] - trace[-2] < tolerance:
            break
    return model, trace


def _climb(
    problem: Problem, free: Vector, value: float, iterations: int, tolerance: float
) -> tuple[Vector, list[float]]:
    """L-BFGS from here, in steps of about one standard error; the value after each iteration."""
    trace: list[float] = []
    steps = problem.steps()

    def downhill(at: Vector) -> tuple[float, Vector]:
        height, slope = problem.value_and_slope(steps * at)
        return -height, -slope * steps

    def record(intermediate_result: object) -> None:
        trace.append(-float(intermediate_result.fun))  # type: ignore[attr-defined]

    relative = max(tolerance / max(1.0, abs(value)), 4 * np.finfo(float).eps)
    options = {"maxiter": iterations, "ftol": relative, "gtol": 1e-9, "maxcor": 20}
    bounds = [
        (None if low is None else low / step, None if high is None else high / step)
        for (low, high), step in zip(problem.bounds(), steps, strict=True)
    ]
    result = minimize(
        downhill, free / steps, jac=True, method="L-BFGS-B", bounds=bounds,
        callback=record, options=options,
    )  # fmt: skip
    return steps * np.asarray(result.x), trace


def _inverse(information: Matrix) -> Matrix:
    """The pseudo-inverse over directions of positive curvature: a factor's sign has none."""
    values, vectors = np.linalg.eigh(information)
    open_ = values <= 1e-9 * max(values.max(initial=0.0), 1.0)
    inverse: Matrix = vectors / np.where(open_, np.inf, values) @ vectors.T
    return inverse


def _widths(
    problem: Problem, free: Vector, covariance: Matrix, prior: GaussianHierarchy
) -> dict[str, Widths]:
    """The widths and, by the delta method, the standard errors of their logs."""
    task, noise, _, hyper = problem.split(free)
    cuts = np.cumsum([part.size for part in problem.split(free)])[:-1]
    errors = [covariance[np.ix_(at, at)] for at in np.split(np.arange(free.size), cuts)]
    model, form = problem.model(free), problem.form
    least = problem.expect(model).log_evidence - _DROP
    task_zero, hyper_zero = np.zeros((2, form.dim), bool)
    task_error, hyper_error = _log_errors(form, task, errors[0]), np.full(form.dim, np.nan)
    for j in range(form.dim):
        smaller = replace(model, task_cov=form.without(model.task_cov, j))
        task_zero[j] = problem.expect(smaller).log_evidence > least
    if hyper.size:
        hyper_error = _log_errors(form, hyper, errors[3])
        for j in range(form.dim):
            smaller = replace(model, hyper_cov=form.without(model.hyper_cov, j))
            hyper_zero[j] = problem.expect(smaller).log_evidence > least
    noise_error = np.sqrt(np.diagonal(errors[1])) if noise.size else np.full(1, np.nan)
    return {
        "task_widths": Widths(_stds(prior.task_cov), task_error, task_zero),
        "noise_width": Widths(np.array([prior.noise_std]), noise_error, np.zeros(1, bool)),
        "hyper_widths": Widths(_stds(prior.hyper_cov), hyper_error, hyper_zero),
    }


def _log_errors(form: Structure, free: Vector, covariance: Matrix) -> Vector:
    cov = form.cov(free)
    jacobian = []
    for j in range(form.dim):
        along = np.zeros(form.dim)
        along[j] = 0.5 / (cov[j] if form.armed else cov[j, j])  # d log std_j / d Sigma_jj
        jacobian.append(form.slope(free, along if form.armed else np.diag(along)))
    rows = np.array(jacobian)
    variances = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    return np.sqrt(np.where(variances > 0, variances, np.nan))


def _stds(cov: Matrix) -> Vector:
    return np.sqrt(cov if cov.ndim == 1 else np.diagonal(cov))


def _hierarchy(
    hyper_mean: Vector, hyper_cov: Matrix, task_cov: Matrix, noise_std: float, armed: bool
) -> GaussianHierarchy:
    if not armed:
        return GaussianHierarchy(
            hyper_mean=hyper_mean, hyper_cov=hyper_cov, task_cov=task_cov, noise_std=noise_std
        )
    blank = GaussianHierarchy.armed(len(hyper_mean), hyper_std=1.0, task_std=1.0, noise_std=1.0)
    return blank.with_levels(hyper_mean, [hyper_cov, task_cov], noise_std)
