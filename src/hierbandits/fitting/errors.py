"""How sure a fit is of its widths."""

from dataclasses import replace
from typing import Literal

import numpy as np

from hierbandits.arrays import Mask, Matrix, Vector
from hierbandits.fitting.expectation import Model
from hierbandits.fitting.fit import Widths
from hierbandits.fitting.problem import Problem
from hierbandits.fitting.structure import EDGE, Structure
from hierbandits.hierarchy import GaussianHierarchy

_EM_STEPS = 10


def inverse(information: Matrix) -> Matrix:
    """The pseudo-inverse over directions of positive curvature: a factor's sign has none."""
    values, vectors = np.linalg.eigh(information)
    open_ = values <= 1e-9 * max(values.max(initial=0.0), 1.0)
    inverse: Matrix = vectors / np.where(open_, np.inf, values) @ vectors.T
    return inverse


def widths(
    problem: Problem, free: Vector, covariance: Matrix, prior: GaussianHierarchy
) -> dict[str, Widths]:
    """The widths and, by the delta method, the standard errors of their logs."""
    task, noise, _, hyper = problem.split(free)
    cuts = np.cumsum([part.size for part in problem.split(free)])[:-1]
    errors = [covariance[np.ix_(at, at)] for at in np.split(np.arange(free.size), cuts)]
    model, form = problem.model(free), problem.form
    least = problem.expect(model).log_evidence - form.drop
    found = {"task_widths": Widths(
        _stds(prior.task_cov),
        _log_errors(form, task, errors[0]),
        _maybe_zero(problem, model, least, "task_cov"),
        _at_bound(model.task_cov),
    )}  # fmt: skip
    found["noise_width"] = Widths(
        np.array([prior.noise_std]),
        np.sqrt(np.diagonal(errors[1])) if noise.size else np.full(1, np.nan),
        np.zeros(1, bool),
        np.array([bool(noise.size) and abs(noise[0]) >= EDGE]),
    )
    no = np.zeros(form.dim, bool)
    found["hyper_widths"] = Widths(
        _stds(prior.hyper_cov),
        _log_errors(form, hyper, errors[3]) if hyper.size else np.full(form.dim, np.nan),
        _maybe_zero(problem, model, least, "hyper_cov") if hyper.size else no,
        _at_bound(model.hyper_cov) if hyper.size else no,
    )
    return found


def _maybe_zero(
    problem: Problem, model: Model, least: float, which: Literal["task_cov", "hyper_cov"]
) -> Mask:
    """Which widths could be nearly zero, all else as good as it can then be, at such evidence."""
    zero = np.zeros(problem.form.dim, bool)
    for j in range(problem.form.dim):
        cov = problem.form.without(getattr(model, which), j)
        smaller = (
            replace(model, task_cov=cov) if which == "task_cov" else replace(model, hyper_cov=cov)
        )
        zero[j] = _reaches(problem, smaller, least)
    return zero


def _reaches(problem: Problem, model: Model, least: float) -> bool:
    """Whether a few EM steps, which leave nearly zero widths nearly zero, get to such evidence.

    They stop when the last one gained less than a tenth of what is missing.
    """
    before = -np.inf
    for _ in range(_EM_STEPS):
        found = problem.expect(model)
        missing = least - found.log_evidence
        if missing < 0:
            return True
        if found.log_evidence - before < 0.1 * missing:
            return False
        before = found.log_evidence
        model = problem.improved(model, found)
    return False


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


def _at_bound(cov: Matrix) -> Mask:
    """Where a width in the units is as small or as large as the search lets it be."""
    with np.errstate(divide="ignore"):
        at: Mask = np.abs(np.log(_stds(cov))) >= EDGE - 1e-9
    return at


def _stds(cov: Matrix) -> Vector:
    return np.sqrt(cov if cov.ndim == 1 else np.diagonal(cov))
