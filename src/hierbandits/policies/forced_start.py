"""The forced start of the paper's concurrent analysis: every task first plays spanning arms."""

from itertools import islice

import numpy as np

from hierbandits.policies.arms import Arms
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.types import Indices

MOST_SETS = 10_000
"""Sets of arms whose spanning arms are remembered; beyond that the oldest are forgotten."""


class ForcedStart:
    """Makes every task play each of its spanning arms once before its policy may choose."""

    def __init__(self, decided: Indices) -> None:
        self.decided = decided  # the number of decisions of each node
        self._spanning_of: dict[bytes, Indices] = {}  # by the bytes of a set's features

    def apply(self, nodes: Indices, arms: Arms, choices: Indices) -> Indices:
        """Count the decisions, and replace the choices of tasks that still owe a spanning arm.

        Returns the events whose choices were replaced.
        """
        self._make_room(nodes)
        most = arms.table.size if arms.table.ndim == 1 else arms.table.shape[1]  # spanning arms
        forced = []
        young = self.decided[nodes] < most
        for event in np.flatnonzero(young):  # in order: a task may repeat in a round
            numbers = self._spanning(arms, int(event))
            turn = self.decided[nodes[event]]
            if turn < numbers.size:
                choices[event] = numbers[turn]
                forced.append(event)
            self.decided[nodes[event]] += 1
        np.add.at(self.decided, nodes[~young], 1)
        return np.array(forced, np.intp)

    def _make_room(self, nodes: Indices) -> None:
        """Let `decided` have a count for each of these nodes."""
        needed = int(nodes.max(initial=-1)) + 1
        if self.decided.size < needed:
            larger = np.zeros(needed + self.decided.size // 2, np.int32)
            larger[: self.decided.size] = self.decided
            self.decided = larger

    def _spanning(self, arms: Arms, event: int) -> Indices:
        """The numbers of the spanning arms of an event's set."""
        rows = arms.rows_of(event)
        numbers: Indices = rows - arms.base[event]
        if arms.table.ndim == 1:  # K-armed: every arm once
            return numbers
        features = arms.table[rows]
        key = features.tobytes()
        if key not in self._spanning_of:
            self._spanning_of[key] = SpanningArms.of(features).arms
            too_many = max(0, len(self._spanning_of) - MOST_SETS)
            for oldest in list(islice(self._spanning_of, too_many)):
                del self._spanning_of[oldest]
        spanning: Indices = numbers[self._spanning_of[key]]
        return spanning
