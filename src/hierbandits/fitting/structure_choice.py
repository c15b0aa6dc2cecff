"""Which structure of the covariances a log supports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Any, cast

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
"""Free numbers of a full covariance that are worth the time: it has more from 13 arms on."""

RANKS = (1, 2, 3)
"""Of covariances that are tried in the place of a full one, where that has too many numbers."""

MOST_WORK = 1.5e9
"""Multiplications for the evidence of a structure of some factors that are worth the time.

Its curvature takes a pass over the tasks for each number, and each pass a product of tasks by arms
by arms for each pair of factors.  With 1,000 tasks that is enough for 90 arms and one factor, for
55 and two, and for 39 and three.
"""

LEAST_TASKS = 60
"""Where there are many arms, structures are compared on so many tasks, if the time is for few."""

LEAST_REPEATS = 10
"""Rewards of an arm beyond the first of each task, below which its noise is not told."""


LOW_RANK = "low-rank"


@dataclass(frozen=True, slots=True, eq=False)
class StructureChoice:
    """Structures of one log's covariances, each with all its widths integrated out.

    Structures are known by name: their kind, or "low-rank 2" for two factors.  Arms have one noise,
    or each its own: `by_arm` has the same structures with noises of arms.
    """

    log_marginal: Mapping[str, float]  # by `Fit.log_marginal`, the simplest first
    numbers: Mapping[str, int]  # free numbers of task_cov
    num_tasks: int  # that they were compared on
    by_arm: Mapping[str, float] = field(default_factory=dict)  # empty: not compared

    @classmethod
    def of(
        cls,
        sums: TaskSums,
        population: Indices,
        noise_std: float | None,
        seed: int,
        squares: Matrix | None = None,
        fit_some: Callable[[Indices, StructureKind, int], Fit] | None = None,
        backend: str = LOCAL,
    ) -> "StructureChoice":
        """Fit every structure that is worth the time; `squares` are those of `fit_prior`.

        Noises of arms are compared if each arm that was played has LEAST_REPEATS.  `fit_some` fits
        some tasks if rewards are not Gaussian; the sums then tell the form alone, and one factor at
        most is tried.  Structures are fitted by the workers of the `backend`.
        """
        rows, dim = np.flatnonzero(sums.n > 0), sums.xy.shape[1]
        most = MOST_TASKS
        if sums.is_armed:  # so many that there is time for one factor
            most = min(most, max(LEAST_TASKS, int(MOST_WORK / _work(2 * dim, 1, 1, dim))))
        if rows.size > most:
            rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
        some, ranks = sums.rows(rows), RANKS if fit_some is None else RANKS[:1]
        numbers = _worth_trying(dim, sums.is_armed, rows.size, ranks)
        forms = [(kind, False) for kind in numbers]
        if fit_some is None and squares is not None and _noises_are_told(some):
            forms += [(kind, True) for kind in numbers]
        its_squares = None if squares is None else squares[rows]
        work = partial(_fitted, some, population[rows], noise_std, its_squares)
        if fit_some is not None:
            work = partial(_family_fitted, fit_some, rows)
        marginals = zip(forms, in_order(work, forms, backend=backend), strict=True)
        logs, by_arm = dict[str, float](), dict[str, float]()
        for (kind, has_noises), marginal in marginals:
            (by_arm if has_noises else logs)[kind] = marginal
        return cls(logs, numbers, rows.size, by_arm)

    @property
    def best_name(self) -> str:
        """The structure of highest evidence, with the noise that has more of it."""
        logs = self.by_arm if self.has_noise_by_arm else self.log_marginal
        return max(logs, key=lambda name: logs[name])

    @property
    def best(self) -> StructureKind:
        """Its kind."""
        return kind_and_rank(self.best_name)[0]

    @property
    def rank(self) -> int:
        """Its factors, where its rank is low; otherwise 1."""
        return kind_and_rank(self.best_name)[1]

    @property
    def has_common(self) -> bool:
        """Whether a part was looked for that all arms of a task have in common."""
        return "common" in self.log_marginal

    @property
    def most_factors(self) -> float:
        """Up to so many factors of correlations were looked for: 0 if none, inf if any matrix."""
        every = [kind_and_rank(name) for name in self.log_marginal]
        if any(kind == "full" for kind, _ in every):
            return inf
        return max((rank for kind, rank in every if kind == LOW_RANK), default=0)

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
    def probability(self) -> dict[str, float]:
        """Of each structure, with either noise, if all are as probable beforehand."""
        shares = [0.0] * len(self.log_marginal)
        for column in self.probabilities.values():
            shares = [share + column[kind] for share, kind in zip(shares, column, strict=True)]
        return dict(zip(self.log_marginal, shares, strict=True))

    @property
    def probabilities(self) -> dict[bool, dict[str, float]]:
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
            "best": self.best_name,
            "most_factors": None if self.most_factors == inf else self.most_factors,
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
        together = [log for kind, log in every if kind not in ("scalar", "diagonal")]
        return max(together) - max(apart) if together and apart else None


def kind_and_rank(name: str) -> tuple[StructureKind, int]:
    """What a structure's name says."""
    kind, _, rank = name.partition(" ")
    return cast(StructureKind, kind), int(rank or 1)


def _work(numbers: int, rank: int, num_tasks: int, dim: int) -> float:
    """Of the curvature of a structure of factors, in multiplications."""
    return numbers * rank * (rank + 1) / 2 * num_tasks * dim**2


def _worth_trying(dim: int, armed: bool, num_tasks: int, ranks: tuple[int, ...]) -> dict[str, int]:
    """The structures that are worth the time, and the free numbers of each.

    A few factors are worth it for arms if they have fewer numbers than a full covariance.
    """
    full = dim * (dim + 1) // 2
    names = ["scalar"] * armed + ["diagonal"] + ["common"] * (armed and dim > 1)
    names += [f"{LOW_RANK} {rank}" for rank in ranks if armed and dim * (rank + 1) < full]
    names += ["full"] * (full <= MOST_NUMBERS)
    numbers = dict[str, int]()
    for name in names:
        kind, rank = kind_and_rank(name)
        size = Structure.of(kind, dim, rank, armed).size
        if kind not in ("common", LOW_RANK) or _work(size, rank, num_tasks, dim) <= MOST_WORK:
            numbers[name] = size
    return numbers


def _noises_are_told(sums: TaskSums) -> bool:
    repeats = np.maximum(sums.xx - 1, 0).sum(0)[sums.xx.any(0)]
    return repeats.size > 1 and bool((repeats >= LEAST_REPEATS).all())


def _fitted(
    sums: TaskSums,
    population: Indices,
    noise_std: float | None,
    squares: Matrix | None,
    form: tuple[str, bool],
) -> float:
    """The evidence of a structure, with one noise or with noises of arms."""
    name, has_noises = form
    kind, rank = kind_and_rank(name)
    fit = partial(
        fit_prior, sums, population=population, structure=kind, rank=rank, intervals=False
    )
    return _marginal(fit(squares=squares) if has_noises else fit(noise_std=noise_std))


def _family_fitted(
    fit_some: Callable[[Indices, StructureKind, int], Fit],
    rows: Indices,
    form: tuple[str, bool],
) -> float:
    """The evidence of a structure, where rewards are of a family."""
    return _marginal(fit_some(rows, *kind_and_rank(form[0])))


def _marginal(fit: Fit) -> float:
    assert fit.log_marginal is not None
    return fit.log_marginal
