"""How far arms are apart on average, as a log of known widths tells it."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.standard_units import StandardUnits
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.types import Vector

_WIDE = 100.0  # the width of mu before the log, in units of the rewards
_SPREADS = np.geomspace(1e-2, 1e4, 241)  # that are tried, in errors of mu


@dataclass(frozen=True, slots=True, eq=False)
class ArmSpread:
    """How probable it is that the arms' means are so far apart: mu_a ~ N(centre, std^2).

    Estimates of mu are further apart than mu itself, and if nothing were known of mu before the
    log, draws of it would be further apart still: one arm would be best in too many tasks, and a
    start that explores for the sake of the others would be promised too little regret.  So all arms
    share one unknown spread.  Beforehand the part that the log's error has of the spread and the
    error together, s^2 / (s^2 + std^2), is uniform (Daniels, 1999), with s^2 the harmonic mean of
    the variances of mu given the log; the centre is flat.
    """

    std: Vector
    weight: Vector  # of each
    centre: Vector  # given each, and its error
    centre_error: Vector

    @classmethod
    def of(cls, hierarchy: GaussianHierarchy, sums: TaskSums) -> "ArmSpread":
        """Given the widths and the noise of a hierarchy of arms, whatever it says of mu."""
        tasks = sums.rows(np.flatnonzero(sums.n > 0))
        middle = float(tasks.xy.sum() / tasks.n.sum())
        variances = np.full(hierarchy.dim, (_WIDE * StandardUnits.of(tasks).reward) ** 2)
        wide = variances if hierarchy.hyper_cov.ndim == 1 else np.diag(variances)
        flat = hierarchy.with_levels(np.full(hierarchy.dim, middle), [wide, hierarchy.task_cov])
        mu = Belief.from_sums(flat, tasks).hyper(0)
        values, vectors = np.linalg.eigh(mu.cov if mu.cov.ndim == 2 else np.diag(mu.cov))
        values = np.maximum(values, 1e-12 * values.max())
        mean, one = vectors.T @ (mu.mean - middle), vectors.sum(0)
        error = 1 / np.mean(1 / values)
        std = np.sqrt(error) * _SPREADS
        both = values + std[:, None] ** 2
        told = (one**2 / both).sum(1)
        centre = (one * mean / both).sum(1) / told
        square = ((mean - centre[:, None] * one) ** 2 / both).sum(1)
        share = error / (error + std**2)
        log = np.log(share) + np.log1p(-share)  # the prior of log std
        log -= (np.log(both).sum(1) + np.log(told) + square) / 2
        weight = np.exp(log - log.max())
        return cls(std, weight / weight.sum(), middle + centre, 1 / np.sqrt(told))

    def drawn(self, rng: Generator, hierarchy: GaussianHierarchy) -> GaussianHierarchy:
        """The hierarchy with a draw of the spread and of the centre."""
        place = int(rng.choice(self.std.size, p=self.weight))
        std = self.std[place] * (_SPREADS[1] / _SPREADS[0]) ** rng.uniform(-0.5, 0.5)
        centre = self.centre[place] + self.centre_error[place] * rng.standard_normal()
        variances = np.full(hierarchy.dim, std**2)
        cov = variances if hierarchy.hyper_cov.ndim == 1 else np.diag(variances)
        return hierarchy.with_levels(np.full(hierarchy.dim, centre), [cov, hierarchy.task_cov])
