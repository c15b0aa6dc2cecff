"""How the arms or features of a task move together."""

from dataclasses import dataclass

import numpy as np

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.types import Matrix, Name, Vector


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Correlations:
    """The correlations of a task's parameters about what tasks have in common."""

    coordinates: tuple[Name, ...]
    matrix: Matrix  # (d, d)
    common_std: float | None  # the width of what all arms of a task have in common, if it has one

    @classmethod
    def of(cls, prior: GaussianHierarchy, coordinates: tuple[Name, ...]) -> "Correlations | None":
        """Those of a prior; None if it has none."""
        cov = prior.task_cov
        if cov.ndim == 1 or not (cov - np.diag(np.diagonal(cov))).any():
            return None
        std = np.sqrt(np.diagonal(cov))
        parts = parts_in_common(cov) if prior.is_armed else None
        return cls(
            coordinates=coordinates,
            matrix=cov / np.outer(std, std),
            common_std=None if parts is None else float(np.sqrt(parts[1])),
        )

    @property
    def pairs(self) -> Vector:
        """The correlation of every pair, each once."""
        every: Vector = self.matrix[np.triu_indices(len(self.matrix), 1)]
        return every
