"""How sure a fit is of its widths."""

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.special import lambertw

from hierbandits.algebra import normal_quantile
from hierbandits.fitting.expectation import HierarchyParts
from hierbandits.fitting.fit import Widths
from hierbandits.fitting.objective import Objective
from hierbandits.fitting.structure import LARGEST_LOG_WIDTH, Structure
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Matrix, Vector

_REACH = normal_quantile(0.95)
_EM_STEPS = 10
_LITTLE = 0.05  # log evidence


def pseudo_inverse(information: Matrix) -> Matrix:
    """The inverse over the directions of positive curvature; the others count as certain.

    A factor's sign, for one, has no curvature.
    """
    values, vectors = np.linalg.eigh(information)
    flat = values <= 1e-9 * max(values.max(initial=0.0), 1.0)
    inverse: Matrix = vectors / np.where(flat, np.inf, values) @ vectors.T
    return inverse


def learned_widths(
    objective: Objective, free: Vector, covariance: Matrix, prior: GaussianHierarchy
) -> dict[str, Widths]:
    """The widths and, by the delta method, the standard errors of their logs."""
    task, noise, _, hyper = objective.split(free)
    cuts = np.cumsum([part.size for part in objective.split(free)])[:-1]
    errors = [covariance[np.ix_(at, at)] for at in np.split(np.arange(free.size), cuts)]
    hierarchy, structure = objective.hierarchy(free), objective.structure
    none = np.full(structure.dim, np.nan)
    far = np.full(1, np.inf)
    noise_error = np.sqrt(np.diagonal(errors[1])) if noise.size else none[:1]
    noise_log = np.array([np.log(hierarchy.noise_var) / 2])
    learned = {
        "task_widths": _widths(
            _stds(prior.task_cov),
            np.log(_stds(hierarchy.task_cov)),
            _log_errors(structure, task, errors[0]),
            _losses(objective, hierarchy, "task_cov"),
        ),
        "noise_width": _widths(np.array([prior.noise_std]), noise_log, noise_error, far),
    }
    if hyper.size:
        learned["hyper_widths"] = _widths(
            _stds(prior.hyper_cov),
            np.log(_stds(hierarchy.hyper_cov)),
            _log_errors(structure, hyper, errors[3]),
            _losses(objective, hierarchy, "hyper_cov"),
        )
    else:
        no = np.zeros(structure.dim, bool)
        learned["hyper_widths"] = Widths(_stds(prior.hyper_cov), none, none, none, no, no)
    return learned


def _widths(std: Vector, log_std: Vector, log_error: Vector, loss: Vector) -> Widths:
    """The widths with their intervals.

    `log_std` is in the data's units.  `loss` is the loss of log evidence if each width is zero,
    divided by the loss that rules zero out.
    """
    maybe_zero = loss < 1.0
    # c = r (std^2 + c): -log(r) / (1 - r) = steep gives the loss at zero and the log's error.
    root = np.sqrt(np.clip(loss, 0.0, 1e6))
    steep = np.clip(2 * _REACH * log_error * root, 1 + 1e-6, 700.0)
    r = np.where(np.isinf(loss), 0.0, -lambertw(-steep * np.exp(-steep)).real / steep)
    with np.errstate(over="ignore"):  # no upper end
        ends = [
            std * np.sqrt(np.maximum(1 + np.expm1(2 * log_error * (1 - r) * z) / (1 - r), 0.0))
            for z in (-_REACH, _REACH)
        ]
    low = np.where(maybe_zero, 0.0, ends[0])
    return Widths(
        std, log_error, low, ends[1], maybe_zero, np.abs(log_std) >= LARGEST_LOG_WIDTH - 1e-9
    )


def _losses(
    objective: Objective, hierarchy: HierarchyParts, which: Literal["task_cov", "hyper_cov"]
) -> Vector:
    """The loss of log evidence if each width is zero, divided by the loss that rules zero out."""
    top = objective.expectation(hierarchy).log_evidence
    losses = np.empty(objective.structure.dim)
    for j in range(losses.size):
        cov = objective.structure.without(getattr(hierarchy, which), j)
        smaller = replace(hierarchy, hyper_cov=cov)
        if which == "task_cov":
            factor, scale = hierarchy.factor_of_tasks(), objective.structure.scale_without(j)
            if factor is not None:
                factor = factor[0] * scale**2, factor[1] * scale
            smaller = replace(hierarchy, task_cov=cov, factor=factor)
        losses[j] = _loss(objective, smaller, top) / objective.structure.critical_loss
    return losses


def _loss(objective: Objective, hierarchy: HierarchyParts, top: float) -> float:
    """The loss after a few EM steps, which keep a width that is nearly zero nearly zero."""
    loss = np.inf
    for _ in range(_EM_STEPS):
        expected = objective.expectation(hierarchy)
        before, loss = loss, min(loss, top - expected.log_evidence)
        if before - loss < max(_LITTLE, 0.02 * loss):
            break
        hierarchy = objective.improved(hierarchy, expected)
    return loss


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
