"""How sure a fit is of its widths, by the curvature at its top."""

import numpy as np

from hierbandits.fitting.fit import Widths
from hierbandits.fitting.objective import Objective
from hierbandits.fitting.structure import LARGEST_LOG_WIDTH, Structure
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Matrix, Vector


def pseudo_inverse(information: Matrix) -> Matrix:
    """The inverse over the directions of positive curvature; the others count as certain.

    A factor's sign, for one, has no curvature.
    """
    values, vectors = np.linalg.eigh(information)
    flat = values <= 1e-9 * max(values.max(initial=0.0), 1.0)
    inverse: Matrix = vectors / np.where(flat, np.inf, values) @ vectors.T
    return inverse


def learned_widths(
    objective: Objective,
    free: Vector,
    covariance: Matrix,
    prior: GaussianHierarchy,
    noise_std: Vector,
) -> dict[str, Widths]:
    """The widths and, by the delta method, the standard errors of their logs; no intervals.

    `noise_std` is (1,), or (K,) where each arm has its own; the prior has one for all.
    """
    task, noise, _, hyper = objective.split(free)
    cuts = np.cumsum([part.size for part in objective.split(free)])[:-1]
    errors = [covariance[np.ix_(at, at)] for at in np.split(np.arange(free.size), cuts)]
    structure = objective.structure
    log_task, log_hyper, noise_error = np.log(_stds(structure.cov(task))), None, None
    if hyper.size:
        log_hyper = np.log(_stds(structure.cov(hyper)))
    if noise.size:
        noise_error = np.sqrt(np.diagonal(errors[1]))
    return {
        "task_widths": _widths(
            _stds(prior.task_cov), log_task, _log_errors(structure, task, errors[0])
        ),
        "noise_width": _widths(noise_std, noise, noise_error),
        "hyper_widths": _widths(
            _stds(prior.hyper_cov),
            log_hyper,
            None if log_hyper is None else _log_errors(structure, hyper, errors[3]),
        ),
    }


def _widths(std: Vector, log_std: Vector | None, log_error: Vector | None) -> Widths:
    """Widths without intervals; those that were given have no error."""
    none, no = np.full(std.size, np.nan), np.zeros(std.size, bool)
    if log_std is None or log_error is None:
        return Widths(std, none, none, none, no, no)
    at_bound = np.abs(log_std) >= LARGEST_LOG_WIDTH - 1e-9
    return Widths(std, log_error, none, none, no, at_bound)


def _log_errors(structure: Structure, free: Vector, covariance: Matrix) -> Vector:
    cov = structure.cov(free)
    jacobian = []
    for j in range(structure.dim):
        along = np.zeros(structure.dim)
        along[j] = 0.5 / (
            cov[j] if structure.is_diagonal else cov[j, j]
        )  # d log std_j / d Sigma_jj
        jacobian.append(structure.slope(free, along if structure.is_diagonal else np.diag(along)))
    rows = np.array(jacobian)
    variances = np.einsum("ij,jk,ik->i", rows, covariance, rows)
    return np.sqrt(np.where(variances > 0, variances, np.nan))


def _stds(cov: Matrix) -> Vector:
    return np.sqrt(cov if cov.ndim == 1 else np.diagonal(cov))
