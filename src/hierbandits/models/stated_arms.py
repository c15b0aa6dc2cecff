"""Arms as people state them: their names, their number and the covariances of their rewards."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.checks import LARGEST, checked_names, count, real_array
from hierbandits.models.stated_covs import checked_covariance, parts_in_common
from hierbandits.models.stated_widths import usual, variances_of
from hierbandits.types import Matrix, Name, Vector


def number_of_arms(num_arms: int | None, arms: Sequence[Name] | None) -> int:
    """How many arms there are, as a number or as names."""
    if num_arms is None:
        if arms is None:
            raise ValueError("num_arms must be given, or arms, got neither")
        num_arms = len(checked_names("arms", arms))
    return count("num_arms", num_arms, least=1)


def names_of_arms(arms: Sequence[Name] | None, dim: int, armed: bool) -> tuple[Name, ...] | None:
    """The names of the arms, checked; None if they have none."""
    if arms is None:
        return None
    if not armed:
        raise ValueError(f"arms must not be named where they have features, got {arms!r:.80}")
    names = checked_names("arms", arms)
    if len(names) != dim:
        raise ValueError(f"arms must name each of the {dim} arms, got {len(names)}: {names!r:.80}")
    return tuple(names)


def arm_covs(
    num_arms: int,
    stds: dict[str, ArrayLike | None],
    covs: dict[str, ArrayLike | None],
    common_std: ArrayLike | None,
) -> dict[str, Matrix]:
    """The covariance of each level, by the name of what was given: a width or a covariance.

    All are variances, (K,), unless one is a full matrix: then all are.  `common_std` is the width
    of what all arms of a task have in common.
    """
    found: dict[str, Matrix] = {}
    for (std_name, std), (cov_name, cov) in zip(stds.items(), covs.items(), strict=True):
        if (std is None) == (cov is None):
            got = "neither" if std is None else "both"
            raise ValueError(f"{std_name} must be given, or {cov_name}, got {got}")
        if cov is not None:
            found[cov_name] = checked_covariance(cov_name, cov, num_arms, "num_arms")
        elif std is not None:
            found[std_name] = variances_of({std_name: std}, num_arms, "num_arms")[std_name]
    if common_std is not None:
        if "task_std" not in found:
            raise ValueError("common_std must come with task_std, got task_cov")
        width = real_array("common_std", common_std, (), largest=LARGEST**0.5)
        if width < 0:
            raise ValueError(f"common_std must not be negative, got {width}")
        found["task_std"] = np.diag(found["task_std"]) + width**2
    return found


def full_if_any(covs: dict[str, Matrix]) -> dict[str, Matrix]:
    """The covariances of arms, as matrices if one of them is: diagonals are (K,) otherwise."""
    if all(np.ndim(cov) == 1 for cov in covs.values()):
        return covs
    return {name: np.diag(cov) if np.ndim(cov) == 1 else cov for name, cov in covs.items()}


def in_order(cov: Matrix, order: Sequence[int]) -> Matrix:
    """The covariance of arms in another order."""
    moved: Matrix = cov[order] if cov.ndim == 1 else cov[np.ix_(order, order)]
    return moved


def with_usual_arm(cov: Matrix, width: str, std: float | None) -> Matrix:
    """The covariance of arms and one more, whose width is `std`, or what is usual among them.

    Its variance is then the mean of the others', and its correlation with an arm the mean of
    those that this arm has with the others.  Where all arms have a part in common, the new one
    has it too, and `std` is the width of the rest.
    """
    given = None if std is None else float(variances_of({width: [std]}, 1, "one arm")[width][0])
    if cov.ndim == 1:
        return np.append(cov, usual(cov) if given is None else given)
    parts = parts_in_common(cov)
    if parts is not None:
        own, common = parts
        return np.diag(np.append(own, usual(own) if given is None else given)) + common
    var = np.diagonal(cov)
    new = np.sqrt(usual(var) if given is None else given)
    scale = np.sqrt(var)
    correlation = cov / np.outer(*[np.where(scale > 0, scale, 1.0)] * 2)
    np.fill_diagonal(correlation, 1.0)
    larger = _bordered(correlation, (correlation.sum(0) - 1.0) / (len(cov) - 1))
    if np.linalg.eigvalsh(larger)[0] < 0:
        # No arm has these correlations; the mean of all arms, plus a part of its own, has others.
        larger = _bordered(correlation, correlation.mean(0))
    widths = np.append(scale, new)
    return larger * np.outer(widths, widths)


def _bordered(correlation: Matrix, row: Vector) -> Matrix:
    """A correlation matrix with one more row and column."""
    larger = np.ones((len(row) + 1, len(row) + 1))
    larger[:-1, :-1], larger[-1, :-1], larger[:-1, -1] = correlation, row, row
    return larger


def are_alike(parts: Sequence[Vector | Matrix]) -> bool:
    """Whether no arm differs from another in these vectors (K,) and covariances (K, K)."""
    for part in parts:
        along = part if part.ndim == 1 else np.diagonal(part)
        if np.ptp(along) != 0:
            return False
        if part.ndim == 2 and len(part) > 1 and np.ptp(part[~np.eye(len(part), dtype=bool)]) != 0:
            return False
    return True
