"""How sure a fit is of its widths."""

from dataclasses import replace

import numpy as np

from hierbandits.arrays import Mask, Matrix, Vector
from hierbandits.fitting.fit import Widths
from hierbandits.fitting.problem import Problem
from hierbandits.fitting.structure import EDGE, Structure
from hierbandits.hierarchy import GaussianHierarchy

_DROP = 1.920729410347062  # half the 95 % point of chi-squared with one degree of freedom


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
    task_bound, hyper_bound = (
        _at_bound(model.task_cov),
        _at_bound(model.hyper_cov) & bool(hyper.size),
    )
    noise_bound = np.array([bool(noise.size) and abs(noise[0]) >= EDGE])
    noise_error = np.sqrt(np.diagonal(errors[1])) if noise.size else np.full(1, np.nan)
    return {
        "task_widths": Widths(_stds(prior.task_cov), task_error, task_zero, task_bound),
        "noise_width": Widths(
            np.array([prior.noise_std]), noise_error, np.zeros(1, bool), noise_bound
        ),
        "hyper_widths": Widths(_stds(prior.hyper_cov), hyper_error, hyper_zero, hyper_bound),
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


def _at_bound(cov: Matrix) -> Mask:
    """Where a width in the units is as small or as large as the search lets it be."""
    with np.errstate(divide="ignore"):
        at: Mask = np.abs(np.log(_stds(cov))) >= EDGE - 1e-9
    return at


def _stds(cov: Matrix) -> Vector:
    return np.sqrt(cov if cov.ndim == 1 else np.diagonal(cov))
