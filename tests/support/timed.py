"""A belief that writes down the times that it is told, as a drifting one would use them."""

import numpy as np

from hierbandits import Belief


class TimedBelief(Belief):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.told = []

    def _note(self, what, nodes, time):
        self.told.append((what, nodes.tolist(), None if time is None else np.array(time).tolist()))

    def observe_rows(self, nodes, table, rewards, noise=None, time=None):
        self._note("observe", nodes, time)
        super().observe_rows(nodes, table, rewards, noise, time)

    def draws(self, rng, nodes, *, repeats=1, fresh=False, time=None):
        self._note("draws", nodes, time)
        return super().draws(rng, nodes, repeats=repeats, fresh=fresh, time=time)

    def predict_rows(self, nodes, table, rows, time=None):
        self._note("predict", nodes, time)
        return super().predict_rows(nodes, table, rows, time)
