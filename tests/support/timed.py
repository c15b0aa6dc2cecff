"""A belief that writes down the times that it is told, as a drifting one would use them."""

import numpy as np

from hierbandits import Belief


class TimedBelief(Belief):
    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.told = []

    def _note(self, what, nodes, time):
        self.told.append((what, nodes.tolist(), None if time is None else np.array(time).tolist()))

    def _raw_observe(self, nodes, table, rewards, noise=None, time=None):
        self._note("observe", nodes, time)
        super()._raw_observe(nodes, table, rewards, noise, time)

    def _raw_draws(self, rng, nodes, *, repeats=1, fresh=False, time=None):
        self._note("draws", nodes, time)
        return super()._raw_draws(rng, nodes, repeats=repeats, fresh=fresh, time=time)

    def _raw_predict(self, nodes, table, rows, time=None):
        self._note("predict", nodes, time)
        return super()._raw_predict(nodes, table, rows, time)
