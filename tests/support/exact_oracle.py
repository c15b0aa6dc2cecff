"""The posterior of a two-level hierarchy by exact fractions: no rounding at all."""

from fractions import Fraction
from math import log, pi

import numpy as np


class ExactPosterior:
    """One joint Gaussian of the root (node 0 here) and the tasks, conditioned event by event."""

    def __init__(self, prior, num_tasks):
        d = self.dim = prior.dim
        root, own = (_matrix(cov) for cov in prior.covs)
        size = (1 + num_tasks) * d
        self.mean = [Fraction(float(m)) for m in prior.hyper_mean] * (1 + num_tasks)
        self.cov = [[root[i % d][j % d] for j in range(size)] for i in range(size)]
        for i in range(d, size):
            for j in range(i - i % d, i - i % d + d):
                self.cov[i][j] += own[i % d][j % d]
        self.noise_var = Fraction(float(prior.noise_std)) ** 2
        self.count, self.log_var, self.square = 0, 0.0, Fraction(0)

    def _along(self, task, x):
        """The covariance of everything with x @ theta of a task, its mean and its variance."""
        start = (1 + task) * self.dim
        x = [Fraction(float(value)) for value in x]
        with_it = [sum(w * row[start + i] for i, w in enumerate(x)) for row in self.cov]
        mean = sum(w * self.mean[start + i] for i, w in enumerate(x))
        return with_it, mean, sum(w * with_it[start + i] for i, w in enumerate(x))

    def observe(self, tasks, features, rewards):
        for task, x, y in zip(tasks, features, rewards, strict=True):
            with_it, mean, var = self._along(int(task), x)
            var, residual = var + self.noise_var, Fraction(float(y)) - mean
            gain = [value / var for value in with_it]
            for i, g in enumerate(gain):
                self.mean[i] += g * residual
                for j, value in enumerate(with_it):
                    self.cov[i][j] -= g * value
            self.count += 1
            self.log_var += log(var.numerator) - log(var.denominator)
            self.square += residual**2 / var

    def predict(self, task, x):
        """The mean and the variance of x @ theta of a task, as floats."""
        _, mean, var = self._along(task, x)
        return float(mean), float(var)

    def log_evidence(self):
        return -0.5 * (self.count * log(2 * pi) + self.log_var + float(self.square))


def _matrix(cov):
    full = np.diag(cov) if cov.ndim == 1 else cov
    return [[Fraction(float(value)) for value in row] for row in full]
