"""The numbers in the rows of a shared policy's tasks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hierbandits.agent.running_sums import RunningSums, row_size
from hierbandits.beliefs.single_site import Site
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Matrix


class SharedSums:
    """Sums of rewards and, where rewards belong to a family, sums of their sites behind them.

    The sites of a task are sums of Gaussian rewards of noise 1: of a x x' and of b x.  An arm's x
    is a unit vector, so of an arm its a and b are kept.
    """

    def __init__(
        self, rows: Iterable[bytes | None], dim: int, *, armed: bool, has_sites: bool
    ) -> None:
        size = row_size(dim, armed=armed)
        square = dim if armed else dim * dim
        nothing = bytes(8 * (size + (square + dim if has_sites else 0)))
        data = b"".join(nothing if row is None else row for row in rows)
        table = np.frombuffer(data).reshape(-1, len(nothing) // 8)
        self.armed, self.has_sites = armed, has_sites
        self.rewards = RunningSums(dim, armed=armed, rows=table[:, :size].copy())
        self._sites: Matrix = table[:, size:].copy()
        precision = self._sites[:, :square]
        if not armed and has_sites:
            precision = precision.reshape(-1, dim, dim)
        self.precision: Matrix = precision
        self.weighted: Matrix = self._sites[:, square:]

    def __len__(self) -> int:
        return len(self._sites)

    def row(self, place: int) -> bytes:
        """The row of a task, as the store keeps it."""
        row: bytes = self.rewards.table[place].tobytes() + self._sites[place].tobytes()
        return row

    def known(self) -> TaskSums:
        """What a belief of known widths learns of tasks; in a family's case noise is 1."""
        rewards = self.rewards.total(len(self))
        if not self.has_sites:
            return rewards
        return TaskSums(self.precision, self.weighted, np.zeros(len(self)), rewards.n)

    def learn(self, place: int, features: Any, was: float | None, value: float) -> None:
        """One more reward of a task, or another in place of the one that was."""
        if was is None:
            self.rewards.add(place, features, value)
        else:
            self.rewards.revise(place, features, was, value)

    def arm_total(self, place: int, arm: int) -> tuple[float, float]:
        """The sum and the number of a task's rewards of an arm."""
        part = self.rewards.state(len(self))
        return float(part["xy"][place, arm] + part["lost_xy"][place, arm]), float(
            part["xx"][place, arm]
        )

    def arm_site(self, place: int, arm: int) -> Site:
        """What stands for all rewards of an arm of a task."""
        return Site(float(self.precision[place, arm]), float(self.weighted[place, arm]))

    def add_site(self, place: int, features: Any, site: Site) -> None:
        """Add a site, or what one has changed by, to the sums of a task."""
        if self.armed:
            self.precision[place, features] += site.precision
            self.weighted[place, features] += site.weighted
        else:
            self.precision[place] += site.precision * np.outer(features, features)
            self.weighted[place] += site.weighted * features
