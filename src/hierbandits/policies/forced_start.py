"""The forced start of the paper's concurrent analysis: a spanning set of arms in every task."""

from itertools import islice

import numpy as np

from hierbandits.policies.arms import Arms
from hierbandits.policies.spanning_arms import SpanningArms
from hierbandits.types import Indices


class ForcedStart:
    """Which tasks still owe an arm of their spanning set, counted in decisions."""

    def __init__(self, decided: Indices) -> None:
        self.decided = decided  # the number of decisions of each node
        self._known: dict[bytes, Indices] = {}

    def apply(self, tasks: Indices, arms: Arms, choices: Indices) -> Indices:
        """Count the decisions, and replace the choices of tasks that are not explored yet.

        Returns the events replaced.
        """
        if self.decided.size <= tasks.max(initial=-1):
            grown = np.zeros(tasks.max() + 1 + self.decided.size // 2, np.int32)
            grown[: self.decided.size] = self.decided
            self.decided = grown
        most = arms.table.size if arms.table.ndim == 1 else arms.table.shape[1]
        forced = []
        young = self.decided[tasks] < most
        for event in np.flatnonzero(young):  # in order: a task may repeat in a round
            numbers = self._spanning(arms, int(event))
            turn = self.decided[tasks[event]]
            if turn < numbers.size:
                choices[event] = numbers[turn]
                forced.append(event)
            self.decided[tasks[event]] += 1
        np.add.at(self.decided, tasks[~young], 1)
        return np.array(forced, np.intp)

    def _spanning(self, arms: Arms, event: int) -> Indices:
        """The numbers of the spanning arms of an event's set."""
        rows = arms.rows_of(event)
        numbers: Indices = rows - arms.base[event]
        if arms.table.ndim == 1:  # K-armed: every arm once
            return numbers
        features = arms.table[rows]
        key = features.tobytes()
        if key not in self._known:
            self._known[key] = SpanningArms.of(features).arms
            for oldest in list(islice(self._known, max(0, len(self._known) - 10_000))):
                del self._known[oldest]
        spanning: Indices = numbers[self._known[key]]
        return spanning
