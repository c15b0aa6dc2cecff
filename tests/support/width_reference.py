"""The posterior of unknown widths by another road: draws of the prior, weighted by the evidence."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import invwishart

from hierbandits.kernels.random_address import random_table
from hierbandits.kernels.width_conditionals import (
    CENTRE,
    COMMON,
    LARGEST_SCALE,
    LEAST_NOISE,
    LEAST_SCALE,
    NOISE,
    NU,
)

EACH = 3  # rewards of each of four tasks
NOISE_RANGE = 0.02, 50.0  # of weighted draws: the rewards of these tests leave nothing beyond


@dataclass
class Problem:
    """A few rewards, and what is assumed about them."""

    x: np.ndarray  # features, (n, d); of arms, unit vectors
    y: np.ndarray
    tasks: np.ndarray
    hyper_mean: np.ndarray
    is_own: np.ndarray
    has_centre: bool
    is_diagonal: bool  # as arms are, but for what they have in common
    has_common: bool
    noise_std: float | None
    factors: int = 0

    @classmethod
    def drawn(cls, seed, dim, *, arms=False, centre=False, common=False, noise_std=None, factors=0):
        rng = np.random.default_rng(seed)
        tasks = np.repeat(np.arange(4), EACH)
        x = (
            np.eye(dim)[rng.integers(0, dim, 4 * EACH)]
            if arms
            else rng.normal(size=(4 * EACH, dim))
        )
        root = np.array([[0.8, 0.0, 0.0], [0.5, 0.4, 0.0], [0.0, 0.1, 0.6]])[:dim, :dim]
        theta = np.arange(dim) - 0.5 + rng.normal(size=(4, dim)) @ root.T
        y = (x * theta[tasks]).sum(1) + 0.4 * rng.normal(size=4 * EACH) + (3.0 if centre else 0.0)
        mean = 0.3 * rng.normal(size=dim)
        is_own = np.arange(dim) == (1 if dim > 1 and not arms else -1)
        return cls(x, y, tasks, mean, is_own, centre, arms, common, noise_std, factors)

    def sums(self):
        """X'X, X'y, y'y and n of each task, as kernels take them."""
        xx, xy, yy, n = [], [], [], []
        for task in range(4):
            x, y = self.x[self.tasks == task], self.y[self.tasks == task]
            square = x.T @ x
            xx.append(np.diagonal(square) if self.is_diagonal else square)
            xy.append(x.T @ y)
            yy.append(y @ y)
            n.append(float(len(y)))
        return tuple(np.array(part) for part in (xx, xy, yy, n))

    def summaries(self, covs, hypers, noise_var, centre, common, loads=None):
        """The numbers whose posterior means are compared, (draws, summaries)."""
        if covs.ndim == 2:
            covs = covs[:, :, None] * np.eye(covs.shape[1])
        width = np.log(np.diagonal(covs, axis1=1, axis2=2)) / 2
        parts = [width, width**2, np.log(hypers), np.log(hypers) ** 2]
        if self.noise_std is None:
            parts += [np.log(noise_var)[:, None] / 2, np.log(noise_var)[:, None] ** 2 / 4]
        if self.has_centre:
            parts.append(centre[:, None])
        if self.has_common:
            parts += [np.log(common)[:, None] / 2, np.log(common)[:, None] ** 2 / 4]
        if self.factors:  # no sign of loads is known
            covs = covs + common[:, None, None] + loads @ loads.transpose(0, 2, 1)
            size = np.log(np.diagonal(covs, axis1=1, axis2=2)) / 2
            parts += [size, np.log((loads**2).sum((1, 2)))[:, None]]
        if (self.factors or not self.is_diagonal) and covs.shape[1] > 1:
            tie = covs[:, 0, 1] / np.sqrt(covs[:, 0, 0] * covs[:, 1, 1])
            parts += [tie[:, None], tie[:, None] ** 2]
        return np.concatenate(parts, axis=1)

    def weighted(self, seed, size):
        """The means of the summaries and their standard errors, by importance sampling."""
        rng = np.random.default_rng(seed)
        found, logs = zip(*(self._block(rng, 20_000) for _ in range(size // 20_000)), strict=True)
        values, log = np.concatenate(found), np.concatenate(logs)
        weights = np.exp(log - log.max())
        weights /= weights.sum()
        mean = weights @ values
        return mean, np.sqrt(weights**2 @ (values - mean) ** 2), 1 / (weights**2).sum()

    def _block(self, rng, size):
        dim = self.x.shape[1]
        scale = np.exp(rng.uniform(np.log(LEAST_SCALE), np.log(LARGEST_SCALE), size))
        root = np.sqrt(2 * NU * rng.gamma(0.5, 1.0, (size, dim))) * scale[:, None]  # of 2 NU / a
        common = np.zeros(size)
        if self.has_common:
            common = 2 * NU * rng.gamma(0.5, 1.0, size) * scale**2 / rng.chisquare(NU, size)
        if self.is_diagonal:
            covs = root**2 / rng.chisquare(NU, (size, dim))
            root = np.sqrt(2 * NU * rng.gamma(0.5, 1.0, (size, 1, self.factors)))
            root *= scale[:, None, None] / np.sqrt(rng.chisquare(NU, root.shape))
            loads = root * rng.normal(size=(size, dim, self.factors))
            full = covs[:, :, None] * np.eye(dim) + common[:, None, None]
            full += loads @ loads.transpose(0, 2, 1)
        else:
            drawn = invwishart.rvs(NU + dim - 1, np.eye(dim), size, rng).reshape(size, dim, dim)
            loads = None
            covs = full = root[:, :, None] * drawn * root[:, None, :]
        shared = 0.5 / rng.gamma(0.5, 1.0, (size, 1))
        hypers = np.where(self.is_own, 0.5 / rng.gamma(0.5, 1.0, (size, dim)), shared)
        if self.noise_std is None:
            noise_var = np.exp(2 * rng.uniform(*np.log(NOISE_RANGE), size))
        else:
            noise_var = np.full(size, self.noise_std**2)
        same = self.tasks[:, None] == self.tasks
        var = np.einsum("ei,bij,fj->bef", self.x, full, self.x) * same
        var += np.einsum("ei,bi,fi->bef", self.x, hypers, self.x)
        var += noise_var[:, None, None] * np.eye(len(self.y))
        lower = np.linalg.cholesky(var)
        left = self.y - self.x @ self.hyper_mean
        along = self.x.sum(1)
        white = np.linalg.solve(
            lower, np.broadcast_to(np.stack([left, along], 1), (size, 4 * EACH, 2))
        )
        log = (
            -np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(1) - (white[:, :, 0] ** 2).sum(1) / 2
        )
        centre = np.zeros(size)
        if self.has_centre:  # which has a uniform density and is integrated out
            square, told = (white[:, :, 1] ** 2).sum(1), (white[:, :, 0] * white[:, :, 1]).sum(1)
            centre = told / square
            log += told * centre / 2 - np.log(square) / 2
        if self.noise_std is None:
            log -= LEAST_NOISE**2 / (2 * noise_var)
        return self.summaries(covs, hypers, noise_var, centre, common, loads), log

    def drawn_by(self, kernel, seed, size):
        """The means of the summaries and their standard errors, by a kernel's draws."""
        dim = self.x.shape[1]
        shape = (dim,) if self.is_diagonal else (dim, dim)
        cov = 0.25 * (np.ones(dim) if self.is_diagonal else np.eye(dim))
        noise_var = 1.0 if self.noise_std is None else self.noise_std**2
        covs, hypers, others = np.empty((size, *shape)), np.empty((size, dim)), np.empty((size, 4))
        rng = np.random.default_rng(seed)
        table = random_table(rng)
        loads = np.empty((size, dim, self.factors))
        shared = np.zeros(4), np.zeros((4, self.factors)), np.full((dim, self.factors), 0.1)
        kernel(
            table.ctypes.data,
            *self.sums(),
            self.hyper_mean,
            self.is_own,
            self.has_centre,
            self.noise_std is not None,
            False,
            cov,
            np.ones(dim),
            np.array([noise_var, 4.0, 0.0, 0.25 if self.has_common else 0.0]),
            covs,
            hypers,
            others,
            *((*shared, np.full(self.factors, 0.1), loads) if self.is_diagonal else ()),
        )
        values = self.summaries(
            covs, hypers, others[:, NOISE], others[:, CENTRE], others[:, COMMON], loads
        )
        batches = values[size // 100 :].reshape(99, -1, values.shape[1]).mean(1)
        return batches.mean(0), batches.std(0, ddof=1) / np.sqrt(99)
