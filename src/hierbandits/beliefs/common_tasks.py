"""Tasks whose arms have a part in common, as `kernels.common_part` keeps them, many at a time."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class CommonTasks:
    """What is known of some tasks given mu; see `kernels.common_part` for the symbols."""

    width: Matrix  # T, (tasks, K)
    tau: Vector  # the width of what the arms have in common, (tasks,)
    std: Matrix  # S, (tasks, K)
    common_std: Vector  # r, (tasks,)
    told: Matrix  # s, (tasks, K)
    mean: Matrix  # t, (tasks, K)
    common_mean: Vector  # m, (tasks,)

    @classmethod
    def of(cls, own: Matrix, state: Matrix) -> "CommonTasks":
        """Read the widths of tasks, (tasks, K + 1), and their blocks of state."""
        return cls(
            own[:, :-1], own[:, -1],
            state[:, 0, :-1], state[:, 0, -1], state[:, 1, :-1], state[:, 2, :-1], state[:, 2, -1],
        )  # fmt: skip

    @classmethod
    def after(cls, own: Matrix, precision: Matrix, weighted: Matrix) -> "CommonTasks":
        """What tasks know after these sums, both in units of the noise variance, (tasks, K)."""
        width, tau = own[:, :-1], own[:, -1]
        gain = 1 / (1 + width**2 * precision)
        told = gain * precision
        common_var = 1 / (1 + tau**2 * told.sum(1))
        heard = gain * weighted  # about mu + l
        return cls(
            width, tau, np.sqrt(gain), np.sqrt(common_var), told, width * heard,
            tau * common_var * heard.sum(1),
        )  # fmt: skip

    def blocks(self) -> Matrix:
        """Their state, (tasks, 3, K + 1)."""
        spare = np.zeros_like(self.common_std)
        columns = (self.std, self.common_std), (self.told, spare), (self.mean, self.common_mean)
        return np.stack([np.column_stack(pair) for pair in columns], axis=1)

    @property
    def log_det(self) -> Vector:
        """The log of how much smaller the volume of each task's uncertainty has become."""
        log: Vector = -2 * np.log(self.std).sum(1) - 2 * np.log(self.common_std)
        return log

    @property
    def heard(self) -> Matrix:
        """What the rewards of each arm say about mu + l, (tasks, K)."""
        return self.mean / self.width

    def explained(self, weighted: Matrix) -> Vector:
        """By how much the tasks' parameters lower the sum of squares, if mu were zero, (tasks,)."""
        arms = (self.width * weighted * self.mean).sum(1)
        explained: Vector = arms + self.tau * self.heard.sum(1) * self.common_mean
        return explained

    @property
    def _kept(self) -> Matrix:
        """1 - tau^2 r^2 s of each arm, (tasks, K), as r^2 (1 + tau^2 sum of the other s)."""
        others = self.told @ (1 - np.eye(self.told.shape[1]))
        kept: Matrix = self.common_std[:, None] ** 2 * (1 + self.tau[:, None] ** 2 * others)
        return kept

    def given_parents(self) -> tuple[Matrix, Matrix, Matrix]:
        """The mean of theta if mu were zero, its covariance given mu, and the gain of mu."""
        gain, common_var = self.std**2, self.common_std**2
        mean = self.width * self.mean + gain * (self.tau * self.common_mean)[:, None]
        var = (self.tau**2 * common_var)[:, None, None]
        one = np.eye(gain.shape[1])
        cov = (self.width * self.std)[:, :, None] ** 2 * one
        cov = cov + var * gain[:, :, None] * gain[:, None, :]
        across = -var * self.told[:, None, :] * (1 - one) + self._kept[:, :, None] * one
        return mean, cov, gain[:, :, None] * across

    def contributions(self, group: Indices, num_groups: int) -> tuple[Matrix, Matrix]:
        """What the tasks of each group say about mu: sums of C, (groups, K, K), and b.

        C = diag(s) - tau^2 r^2 s s' and b = h - tau^2 r^2 s sum(h), where h is `heard`.  What is
        left of an arm's own s and h is computed as r^2 (1 + tau^2 sum of the other s) of them.
        """
        dim = self.told.shape[1]
        precision, weighted = np.zeros((num_groups, dim, dim)), np.zeros((num_groups, dim))
        scaled = (self.tau * self.common_std)[:, None] * self.told
        own, others = self.told * self._kept, self.heard @ (1 - np.eye(dim))
        along = self.heard * self._kept - (self.tau * self.common_std)[:, None] * scaled * others
        for place in range(num_groups):
            mine = group == place
            precision[place] = -scaled[mine].T @ scaled[mine]
            np.fill_diagonal(precision[place], own[mine].sum(0))
            weighted[place] = along[mine].sum(0)
        return precision, weighted
