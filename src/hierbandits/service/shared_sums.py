"""The numbers in the rows of a shared policy's tasks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hierbandits.agent.running_sums import RunningSums, row_size
from hierbandits.beliefs.single_site import Site
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.types import Matrix


class Behind(RuntimeError):
    """The store has more arms than this worker has heard of."""


class SharedSums:
    """Sums of rewards and, where rewards belong to a family, sums of their sites behind them.

    The sites of a task are sums of Gaussian rewards of noise 1: of a x x' and of b x.  An arm's x
    is a unit vector, so of an arm its a and b are kept.  Rows that were written before an arm was
    added have none of it: there is room for it when they are read.  Longer rows are Behind.
    """

    def __init__(
        self, rows: Iterable[bytes | None], dim: int, *, armed: bool, has_sites: bool
    ) -> None:
        size = row_size(dim, armed=armed)
        square = dim if armed else dim * dim
        nothing = bytes(8 * (size + (square + dim if has_sites else 0)))
        data = b"".join(
            nothing if row is None else _with_room(row, len(nothing), dim, armed=armed)
            for row in rows
        )
        table = np.frombuffer(data).reshape(-1, len(nothing) // 8)
        self.armed, self.has_sites, self._dim = armed, has_sites, dim
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

    def check_arm(self, features: Any) -> None:
        """Raise Behind if there is no room for an arm."""
        if self.armed and features >= self._dim:
            raise Behind(f"arm {features} must be one of {self._dim}")

    def learn(self, place: int, features: Any, was: float | None, value: float) -> None:
        """One more reward of a task, or another in place of the one that was."""
        self.check_arm(features)
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

    def put_sites(self, sites: TaskSums) -> None:
        """Let the sites of all tasks have these sums, in place of what they have."""
        self.precision[:], self.weighted[:] = sites.xx, sites.xy


def joined(sums: TaskSums, more: TaskSums) -> TaskSums:
    """The sums of some tasks, and then those of others."""
    pairs = zip(sums.state().values(), more.state().values(), strict=True)
    return TaskSums(*(np.concatenate(both) for both in pairs))


def _with_room(row: bytes, size: int, dim: int, *, armed: bool) -> bytes:
    """A row of so many bytes; an armed one of fewer arms has zeros for the others."""
    if len(row) == size:
        return row
    if len(row) > size or not armed:
        raise Behind(f"a task's row must have {size} bytes, got {len(row)}")
    parts, ends = np.frombuffer(row), 3  # numbers that belong to no arm
    blocks = (size // 8 - ends) // dim  # of which each has a number of every arm
    known = (len(parts) - ends) // blocks
    wide = np.zeros(size // 8)
    of_rewards, wide_rewards = parts[: 3 * known], wide[: 3 * dim]
    wide_rewards.reshape(3, dim)[:, :known] = of_rewards.reshape(3, known)
    wide[3 * dim : 3 * dim + ends] = parts[3 * known : 3 * known + ends]
    wide[3 * dim + ends :].reshape(-1, dim)[:, :known] = parts[3 * known + ends :].reshape(
        -1, known
    )
    return wide.tobytes()
