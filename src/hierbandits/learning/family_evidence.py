"""The evidence of pooled, hierarchical and independent tasks where rewards are of a family."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.width_evidence import GivenTaskWidth, WidthEvidence
from hierbandits.types import Indices, Matrix, Vector

_MIDDLE = 1.0  # the hyper width at which sites match, in units of the link
_TOLERANCE = 1e-3  # evidence is flat where sites match


class FamilyEvidence:
    """The evidence of every two widths, in units of the link: 1 is one of log odds, say.

    At each task width the sites match twice, with mu free and with tasks apart; at a width of 0
    tasks are one.  Given its sites, evidence at all hyper widths is that of Gaussian sums.
    """

    def __init__(
        self, sites: FamilySites, population: Indices, unit: Vector, centre: float
    ) -> None:
        self.unit, self.centre = unit, centre
        self._population = population
        self._free, self._apart = sites.scaled(unit), sites.scaled(unit)
        self._one = sites.scaled(unit).pooled(population)

    def at(self, t: float) -> "GivenFamilyWidth":
        """What the tasks say about mu if their width is t; 0 pools the tasks."""
        if t == 0.0:
            every = np.arange(self._one.num_tasks)
            return GivenFamilyWidth(self._given(self._one, [_MIDDLE], every, 0.0), None)
        free = self._given(self._free, [_MIDDLE, t], self._population, t)
        return GivenFamilyWidth(free, self._given(self._apart, [0.0, t], self._population, t))

    def noise(self, task: float, hyper: float) -> float:
        """There is none: widths are in units of the link."""
        return 1.0

    def _given(
        self, sites: FamilySites, widths: list[float], population: Indices, t: float
    ) -> "tuple[GivenTaskWidth, float]":
        dim = sites.dim
        one = np.ones(dim) if sites.is_armed else np.eye(dim)
        covs = [width**2 * one for width in widths]
        sites.match(np.full(dim, self.centre), covs, population, _TOLERANCE)
        given = centred(sites.sums(), population, self.centre).at(t)
        return given, sites.log_scale


@dataclass(frozen=True, slots=True, eq=False)
class GivenFamilyWidth:
    """The tasks integrated out at one task width, given their sites."""

    free: tuple[GivenTaskWidth, float]  # and the sites' log scale
    apart: tuple[GivenTaskWidth, float] | None  # None if tasks are one

    def evidence(self, hyper: Vector) -> Evidence:
        """For each hyper width, (Q,); a width of 0 makes tasks independent."""
        parts = _scaled(self.free, hyper)
        if self.apart is not None:
            parts = np.where(hyper == 0.0, _scaled(self.apart, hyper), parts)
        return Evidence(parts)


def _scaled(given: tuple[GivenTaskWidth, float], hyper: Vector) -> Matrix:
    parts = given[0].evidence(hyper).parts.copy()
    parts[1] -= 2 * given[1]
    return parts


def centred(sums: TaskSums, population: Indices, centre: float) -> WidthEvidence:
    """The width evidence of sites, as sums of which no reward is counted, about a centre."""
    num = int(population.max()) + 1
    whole = np.full(sums.xy.shape[1], centre)
    values: Matrix
    vectors: Matrix | None
    if sums.is_armed:
        values, vectors = sums.xx, None
        moved = sums.xx * whole
    else:
        values, vectors = np.linalg.eigh(sums.xx)
        values, moved = np.maximum(values, 0.0), sums.xx @ whole
    squares = ((moved - 2 * sums.xy) * whole).sum(1)
    weighted = sums.xy - moved
    if vectors is not None:
        weighted = np.einsum("sji,sj->si", vectors, weighted)
    return WidthEvidence(
        unit=np.ones(whole.size),
        centre=centre,
        population=population,
        counts=np.zeros(num),
        squares=np.bincount(population, squares, num).astype(float),
        values=values,
        vectors=vectors,
        weighted=weighted,
    )
