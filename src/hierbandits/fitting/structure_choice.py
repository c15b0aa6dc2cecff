"""Which structure of the covariances a log supports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.fitting.fit import Fit
from hierbandits.fitting.maximum_evidence import fit_prior
from hierbandits.fitting.structure import Structure, StructureKind
from hierbandits.types import Indices, Matrix
from hierbandits.workers.backends import LOCAL, in_order

MOST_TASKS = 1000
"""Tasks that structures are compared on; where there are more, so many at random tell enough."""

MOST_NUMBERS = 80
"""Free numbers of a covariance that are worth the time: a full one has them from 13 arms on."""


LEAST_REPEATS = 10
"""Rewards of an arm beyond the first of each task, below which its noise is not told."""


@dataclass(frozen=True, slots=True, eq=False)
class StructureChoice:
    """Structures of one log's covariances, each with all its widths integrated out.

    Arms have one noise, or each its own: `by_arm` has the same structures with noises of arms.
    """

    log_marginal: Mapping[StructureKind, float]  # by `Fit.log_marginal`, the simplest first
    numbers: Mapping[StructureKind, int]  # free numbers of task_cov
    num_tasks: int  # that they were compared on
    by_arm: Mapping[StructureKind, float] = field(default_factory=dict)  # empty: not compared

    @classmethod
    def of(
        cls,
        sums: TaskSums,
        population: Indices,
        noise_std: float | None,
        seed: int,
        squares: Matrix | None = None,
        fit_some: Callable[[Indices, StructureKind], Fit] | None = None,
        backend: str = LOCAL,
    ) -> "StructureChoice":
        """Fit every structure that is worth the time; `squares` are those of `fit_prior`.

        Noises of arms are compared if each arm that was played has LEAST_REPEATS.  `fit_some` fits
        some tasks if rewards are not Gaussian; the sums then tell the form alone.  Structures are
        fitted by the workers of the `backend`.
        """
        rows = np.flatnonzero(sums.n > 0)
        if rows.size > MOST_TASKS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_TASKS, replace=False))
        some, dim = sums.rows(rows), sums.xy.shape[1]
        kinds: tuple[StructureKind, ...] = ("diagonal", "full")
        if sums.is_armed:
            kinds = ("scalar", "diagonal", "common", "full")
        numbers = dict[StructureKind, int]()
        for kind in kinds:
            if kind == "common" and dim == 1:
                continue
            size = Structure.of(kind, dim, 1, sums.is_armed).size
            if size > MOST_NUMBERS and kind not in ("scalar", "diagonal"):
                continue
            numbers[kind] = size
        forms = [(kind, False) for kind in numbers]
        if fit_some is None and squares is not None and _noises_are_told(some):
            forms += [(kind, True) for kind in numbers]
        its_squares = None if squares is None else squares[rows]
        work = partial(_fitted, some, population[rows], noise_std, its_squares)
        if fit_some is not None:
            work = partial(_family_fitted, fit_some, rows)
        marginals = zip(forms, in_order(work, forms, backend=backend), strict=True)
        logs, by_arm = dict[StructureKind, float](), dict[StructureKind, float]()
        for (kind, has_noises), marginal in marginals:
            (by_arm if has_noises else logs)[kind] = marginal
        return cls(logs, numbers, rows.size, by_arm)

    @property
    def best(self) -> StructureKind:
        """The structure of highest evidence, with the noise that has more of it."""
        logs = self.by_arm if self.has_noise_by_arm else self.log_marginal
        return max(logs, key=lambda kind: logs[kind])

    @property
    def has_noise_by_arm(self) -> bool:
        """Whether the structure of highest evidence has a noise for each arm."""
        return (self.log_odds_of_noises or 0.0) > 0

    @property
    def log_odds_of_noises(self) -> float | None:
        """By how much the log speaks for a noise for each arm; None if none were compared."""
        if not self.by_arm:
            return None
        return max(self.by_arm.values()) - max(self.log_marginal.values())

    @property
    def probability(self) -> dict[StructureKind, float]:
        """Of each structure, with either noise, if all are as probable beforehand."""
        shares = [0.0] * len(self.log_marginal)
        for column in self.probabilities.values():
            shares = [share + column[kind] for share, kind in zip(shares, column, strict=True)]
        return dict(zip(self.log_marginal, shares, strict=True))

    @property
    def probabilities(self) -> dict[bool, dict[StructureKind, float]]:
        """Of each structure without noises by arm, and with them, if these were compared."""
        every = {False: self.log_marginal} | ({True: self.by_arm} if self.by_arm else {})
        total = float(logsumexp([log for logs in every.values() for log in logs.values()]))
        return {
            by_arm: {kind: float(np.exp(log - total)) for kind, log in logs.items()}
            for by_arm, logs in every.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "best": self.best,
            "log_marginal": dict(self.log_marginal),
            "noise_by_arm": self.has_noise_by_arm,
            "log_marginal_with_noise_by_arm": dict(self.by_arm) or None,
            "probability": self.probability,
            "numbers": dict(self.numbers),
            "num_tasks": self.num_tasks,
        }

    @property
    def log_odds_of_correlations(self) -> float | None:
        """By how much the log speaks for correlations; None if none were compared."""
        every = [*self.log_marginal.items(), *self.by_arm.items()]
        apart = [log for kind, log in every if kind in ("scalar", "diagonal")]
        together = [log for kind, log in every if kind in ("common", "full")]
        return max(together) - max(apart) if together and apart else None


def _noises_are_told(sums: TaskSums) -> bool:
    repeats = np.maximum(sums.xx - 1, 0).sum(0)[sums.xx.any(0)]
    return repeats.size > 1 and bool((repeats >= LEAST_REPEATS).all())


def _fitted(
    sums: TaskSums,
    population: Indices,
    noise_std: float | None,
    squares: Matrix | None,
    form: tuple[StructureKind, bool],
) -> float:
    """The evidence of a structure, with one noise or with noises of arms."""
    kind, has_noises = form
    fit = partial(fit_prior, sums, population=population, structure=kind, intervals=False)
    return _marginal(fit(squares=squares) if has_noises else fit(noise_std=noise_std))


def _family_fitted(
    fit_some: Callable[[Indices, StructureKind], Fit],
    rows: Indices,
    form: tuple[StructureKind, bool],
) -> float:
    """The evidence of a structure, where rewards are of a family."""
    return _marginal(fit_some(rows, form[0]))


def _marginal(fit: Fit) -> float:
    assert fit.log_marginal is not None
    return fit.log_marginal
