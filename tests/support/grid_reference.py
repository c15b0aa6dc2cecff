"""Posteriors of Beta and Gamma hierarchies by brute force: another grid, other coordinates.

Hyper-parameters are integrated by Gauss-Legendre over the mean's log odds (or log) and the log of
the concentration, c of a Beta and the shape of a Gamma, on a box that holds all of their mass.
"""

import numpy as np
from scipy.special import gammaln, logsumexp


def rises(a, values):
    """The sum over values of log(a (a + 1) ... (a + v - 1)), one factor after another."""
    values = np.asarray(values, int)
    total = np.zeros_like(a)
    for j in range(values.max(initial=0)):
        total += (values > j).sum() * np.log(a + j)
    return total


class Reference:
    """The exact posterior of one arm: `prior` is a model of one arm, a row of sums for a task."""

    def __init__(self, prior, sums, over, nodes=120, rewards=None, exposure=None):
        self.is_beta = type(prior).__name__ == "BetaHierarchy"
        self.sums, self.over = np.asarray(sums, float), np.asarray(over, float)
        self.assumed = [float(part[0]) for _, part in prior._parts()]
        box = self._box()
        points, weights = np.polynomial.legendre.leggauss(nodes)
        axes = [(high + low) / 2 + (high - low) / 2 * points for low, high in box]
        areas = [(high - low) / 2 * weights for low, high in box]
        x, k = np.meshgrid(*axes, indexing="ij")
        logs = self.log_density(x, k) + np.log(areas[0][:, None] * areas[1])
        self.log_evidence = logsumexp(logs)
        if rewards is not None:  # of counts, which sums do not tell
            base = rewards * np.log(exposure) - gammaln(rewards + 1)
            self.log_evidence += base.sum()
        self.weight = np.exp(logs - logsumexp(logs))
        self.x, self.k = x, k

    def log_density(self, x, k):
        """Of the hyper-parameters' coordinates, with the likelihood."""
        mean, std, width, factor = self.assumed
        a, b, log_width = self._shapes(x, k)
        total = -0.5 * ((x - mean) / std) ** 2 - np.log(std * np.sqrt(2 * np.pi))
        log_factor = np.log(factor)
        total -= 0.5 * ((log_width - np.log(width)) / log_factor) ** 2
        total -= np.log(log_factor * np.sqrt(2 * np.pi)) + np.log(2.0)  # dl = dk / 2
        if self.is_beta:
            lost = self.over - self.sums
            return total + rises(a, self.sums) + rises(b, lost) - rises(a + b, self.over)
        total = total + rises(a, self.sums)
        for had, over in zip(self.sums, self.over, strict=True):
            total += -a * np.log1p(over / b) - had * np.log(b + over)
        return total

    def _shapes(self, x, k):
        if not self.is_beta:
            return np.exp(k), np.exp(k - x), -0.5 * k
        p = 1 / (1 + np.exp(-x))
        q = 1 / (1 + np.exp(x))
        return np.exp(k) * p, np.exp(k) * q, -0.5 * (k + np.log(p) + np.log(q))

    def _box(self, depth=32.0):
        """Where the log density is less than so much below its top, by ever closer looks."""
        mean, std, width, factor = self.assumed
        far = 8.0
        box = [[mean - far * std, mean + far * std]]
        ends = [-2 * np.log(width) + side * 2 * far * np.log(factor) for side in (-1, 1)]
        top = max(abs(end) for end in box[0]) if self.is_beta else 0.0  # log(m (1 - m)) is in k
        box.append([ends[0], ends[1] + top])
        for _ in range(40):
            axes = [np.linspace(low, high, 61) for low, high in box]
            logs = self.log_density(*np.meshgrid(*axes, indexing="ij"))
            close = logs > logs.max() - depth
            before = [list(ends) for ends in box]
            for axis in (0, 1):
                hit = np.flatnonzero(close.any(1 - axis))
                step = axes[axis][1] - axes[axis][0]
                first, last = hit[0], hit[-1]
                box[axis][0] = axes[axis][first] - (20 if first == 0 else 1.5) * step
                box[axis][1] = axes[axis][last] + (20 if last == 60 else 1.5) * step
            if np.allclose(before, box, rtol=0.02, atol=0.02 * np.ptp(box[0])):
                break
        return box

    def of(self, values):
        """The posterior mean of a function of the hyper-parameters."""
        return float((self.weight * values).sum())

    def hyper(self):
        """The mean and the variance of the arm's mean."""
        mean = np.exp(self.x) if not self.is_beta else 1 / (1 + np.exp(-self.x))
        centre = self.of(mean)
        return centre, self.of((mean - centre) ** 2)

    def task(self, had, over):
        """The mean of a task's parameter, its own variance and the hyper-parameter's."""
        a, b, _ = self._shapes(self.x, self.k)
        a, b = a + had, b + (over - had if self.is_beta else over)
        mean = a / (a + b) if self.is_beta else a / b
        var = mean * (1 - mean) / (a + b + 1) if self.is_beta else a / b**2
        centre = self.of(mean)
        return centre, self.of(var), self.of((mean - centre) ** 2)
