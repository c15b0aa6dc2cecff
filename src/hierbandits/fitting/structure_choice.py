"""Which structure of the covariances a log supports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.maximum_evidence import fit_prior
from hierbandits.fitting.structure import Structure, StructureKind
from hierbandits.types import Indices

MOST_TASKS = 1000
"""Tasks that structures are compared on; where there are more, so many at random tell enough."""

MOST_NUMBERS = 80
"""Free numbers of a covariance that are worth the time: a full one has them from 13 arms on."""


@dataclass(frozen=True, slots=True, eq=False)
class StructureChoice:
    """Structures of one log's covariances, each with all its widths integrated out."""

    log_marginal: Mapping[StructureKind, float]  # by `Fit.log_marginal`, the simplest first
    numbers: Mapping[StructureKind, int]  # free numbers of task_cov
    num_tasks: int  # that they were compared on

    @classmethod
    def of(
        cls, sums: TaskSums, population: Indices, noise_std: float | None, seed: int
    ) -> "StructureChoice":
        """Fit every structure that is worth the time."""
        rows = np.flatnonzero(sums.n > 0)
        if rows.size > MOST_TASKS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_TASKS, replace=False))
        some, dim = sums.rows(rows), sums.xy.shape[1]
        kinds: tuple[StructureKind, ...] = ("diagonal", "full")
        if sums.is_armed:
            kinds = ("scalar", "diagonal", "common", "full")
        logs, numbers = dict[StructureKind, float](), dict[StructureKind, int]()
        for kind in kinds:
            if kind == "common" and dim == 1:
                continue
            size = Structure.of(kind, dim, 1, sums.is_armed).size
            if size > MOST_NUMBERS and kind not in ("scalar", "diagonal"):
                continue
            fit = fit_prior(
                some,
                population=population[rows],
                structure=kind,
                noise_std=noise_std,
                intervals=False,
            )
            assert fit.log_marginal is not None
            logs[kind], numbers[kind] = fit.log_marginal, size
        return cls(logs, numbers, rows.size)

    @property
    def best(self) -> StructureKind:
        """The structure of highest evidence."""
        return max(self.log_marginal, key=lambda kind: self.log_marginal[kind])

    @property
    def probability(self) -> dict[StructureKind, float]:
        """Of each structure, if all are as probable beforehand."""
        logs = np.array(list(self.log_marginal.values()))
        shares = np.exp(logs - logsumexp(logs))
        return dict(zip(self.log_marginal, shares.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "best": self.best,
            "log_marginal": dict(self.log_marginal),
            "probability": self.probability,
            "numbers": dict(self.numbers),
            "num_tasks": self.num_tasks,
        }

    @property
    def log_odds_of_correlations(self) -> float | None:
        """By how much the log speaks for correlations; None if none were compared."""
        apart = [log for kind, log in self.log_marginal.items() if kind in ("scalar", "diagonal")]
        together = [log for kind, log in self.log_marginal.items() if kind in ("common", "full")]
        return max(together) - max(apart) if together and apart else None
