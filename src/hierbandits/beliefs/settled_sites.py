"""Sites of rewards that are matched no more: sums of each node, as of Gaussian rewards."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_copy
from hierbandits.types import Features, Indices, Matrix


class SettledSites:
    """The sums of sites by node: what is left of the oldest rewards where there are too many.

    They are sums of Gaussian rewards of noise 1, with the numbers of rewards.  So a belief can
    start over from them, and memory is bounded by the number of nodes.
    """

    def __init__(self, dim: int, *, armed: bool) -> None:
        self._dim, self._armed = dim, armed
        self._settled_sums: TaskSums | None = None

    @property
    def number(self) -> int:
        """How many rewards there are."""
        return 0 if self._settled_sums is None else int(self._settled_sums.n.sum())

    def add(self, nodes: Indices, features: Features, sites: Matrix) -> None:
        """Add the sites of rewards, (3, E)."""
        most = int(nodes.max(initial=-1)) + 1
        sums = self._settled_sums
        if sums is None:
            sums = TaskSums.zeros(most, self._dim, armed=self._armed)
        self._settled_sums = sums = sums.with_room(most, self._dim)
        precision, weighted, _ = sites
        if self._armed:
            np.add.at(sums.xx, (nodes, features), precision)
            np.add.at(sums.xy, (nodes, features), weighted)
        else:
            order = np.argsort(nodes, kind="stable")
            seen, starts = np.unique(nodes[order], return_index=True)
            for node, rows in zip(seen, np.split(order, starts[1:]), strict=True):
                x = features[rows]
                square = (x.T * precision[rows]) @ x
                sums.xx[node] += (square + square.T) / 2
                sums.xy[node] += weighted[rows] @ x
        np.add.at(sums.n, nodes, 1.0)

    def number_of(self, node: int) -> int:
        """How many rewards of a node there are."""
        sums = self._settled_sums
        return 0 if sums is None or node >= len(sums.n) else int(sums.n[node])

    def tilt(self, node: int, features: Any, amount: float) -> None:
        """Let the weighted observation of a site be larger by so much."""
        assert self._settled_sums is not None  # the node has some
        if self._armed:
            self._settled_sums.xy[node, features] += amount
        else:
            self._settled_sums.xy[node] += amount * features

    def keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `tilt` of these nodes changes; returns a function that puts it back."""
        sums = self._settled_sums
        if sums is None:
            return lambda: None
        known = nodes[nodes < len(sums.n)]
        before = sums.xy[known]

        def put_back() -> None:
            sums.xy[known] = before

        return put_back

    def sums(self, num_nodes: int) -> TaskSums:
        """A row for each node."""
        none = TaskSums.zeros(num_nodes, self._dim, armed=self._armed)
        if self._settled_sums is not None:
            known = min(num_nodes, len(self._settled_sums.n))
            none._put(np.arange(known), self._settled_sums.rows(np.arange(known)))
        return none

    def moved(self, nodes: Indices, to: Indices, dim: int) -> "SettledSites":
        """The sums of some nodes at other nodes, perhaps with more arms."""
        twin = SettledSites(dim, armed=self._armed)
        if self._settled_sums is not None and to.size:
            some = self.sums(max(int(nodes.max()) + 1, len(self._settled_sums.n))).rows(nodes)
            if self._armed:
                some = some.with_arms_at(np.arange(self._dim), dim)
            twin._settled_sums = TaskSums.zeros(int(to.max()) + 1, dim, armed=self._armed)
            twin._settled_sums._put(to, some)
        return twin

    def copy(self) -> "SettledSites":
        """Independent sums."""
        size = 0 if self._settled_sums is None else len(self._settled_sums.n)
        return self.moved(np.arange(size), np.arange(size), self._dim)

    def state(self) -> dict[str, NDArray[Any]]:
        """The sums by name; none if nothing is settled."""
        if self._settled_sums is None:
            return {}
        sums = self._settled_sums.rows(slice(int(np.flatnonzero(self._settled_sums.n)[-1]) + 1))
        return {"settled_xx": sums.xx, "settled_xy": sums.xy, "settled_n": sums.n}

    def _take_state(self, arrays: dict[str, NDArray[Any]], num_nodes: int) -> None:
        """Take the sums that `state` described, checked, in place of none."""
        if "settled_n" not in arrays:
            return
        size = min(len(np.atleast_1d(arrays["settled_n"])), num_nodes)
        shape = (size, self._dim)
        xx = state_copy(
            "settled_xx", arrays["settled_xx"], shape if self._armed else (*shape, self._dim)
        )
        xy = state_copy("settled_xy", arrays["settled_xy"], shape)
        n = state_copy("settled_n", arrays["settled_n"], shape[:1])
        if ((n < 0) | (n != np.round(n))).any():
            raise ValueError("settled_n must be numbers of rewards")
        if not self._armed and np.abs(xx - xx.swapaxes(1, 2)).max(initial=0.0) > 0:
            raise ValueError("settled_xx must be symmetric")
        squares = xx if self._armed else np.linalg.eigvalsh(xx)
        if squares.min(initial=0.0) < -1e-9 * np.abs(squares).max(initial=0.0):
            raise ValueError("settled_xx must be sums of squares")
        self._settled_sums = TaskSums(xx, xy, np.zeros(size), n)


def with_squares(sums: TaskSums) -> TaskSums:
    """Sums of sites with the squares that any hierarchy explains at most, (T,).

    So `fold` cuts nothing off; the log evidence of the sites is what it finds, and half of them.
    """
    if sums.is_armed:
        told = sums.xx > 0
        square = np.where(told, sums.xy**2 / np.where(told, sums.xx, 1.0), 0.0).sum(1)
    else:
        inverse = np.linalg.pinv(sums.xx, rcond=1e-12, hermitian=True)
        square = np.einsum("si,sij,sj->s", sums.xy, inverse, sums.xy)
    return TaskSums(sums.xx, sums.xy, square, sums.n)
