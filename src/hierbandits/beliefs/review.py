"""A belief's look at its widths, in pieces: first the draws, then its tasks, some at a time."""

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.growing_sums import GrowingSums
from hierbandits.beliefs.width_refit import WidthRefit
from hierbandits.types import Indices, Vector


class Review:
    """Widths fitted to a population's sums, and the belief under them as it is built.

    Tasks are folded in by their ids.  A reward of a task that is folded must be told to `belief`
    too; a reward of any other task is in the sums when its turn comes.  A review that was
    interrupted in the middle of a piece is of no use any more.
    """

    def __init__(self, refit: WidthRefit, due: Vector) -> None:
        self.refit = refit
        self.due = due  # the rewards at which to look next, once this is done
        self.belief: Belief | None = None
        self.folded = 0  # the number of nodes that `belief` has been told of

    def advance(self, old: Belief, sums: GrowingSums, work: float) -> bool:
        """Do a piece of work, about so many multiplications; returns whether all is done."""
        while work > 0 and not self.refit.is_done:
            made = self.refit.advance(_pieces(work, self.refit.cost))
            work -= made * self.refit.cost
        if work > 0 and self.belief is None and self.refit.is_done:
            self.belief = old._replica(self.refit.hierarchy())
        each = 1200 + (30 * old.dim if old.is_diagonal else 80 * old.dim**2)  # as measured
        while work > 0 and self.belief is not None and self.folded < old.num_nodes:
            stop = min(self.folded + _pieces(work, each, least=16), old.num_nodes)
            nodes = np.arange(self.folded, stop)
            self.belief._learn_from(nodes, sums.rows(nodes))
            work -= (stop - self.folded) * each
            self.folded = stop
        return self.belief is not None and self.folded == old.num_nodes

    def knows(self, nodes: Indices) -> Indices:
        """The places of those nodes whose rewards must be told to `belief`."""
        return (nodes < self.folded).nonzero()[0]


def _pieces(work: float, each: float, least: int = 1) -> int:
    """How many pieces fit into the work, which may be infinite."""
    return max(least, int(min(work / each, 1e9)))
