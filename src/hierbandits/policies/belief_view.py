"""What a rule sees of a belief: checked questions, and nothing that changes it."""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.posterior import Posterior
from hierbandits.checks import checked_time, count, generator, index_array, positive, real_array
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


class BeliefView:
    """A belief that can be asked and not changed, at the time of a round.

    `time` is the time of each event of the round, (E,), or None.  Questions about other nodes than
    the round's events need times of their own if the round has any.
    """

    __slots__ = ("_moment", "_viewed")

    def __init__(self, belief: Posterior, time: ArrayLike | None = None) -> None:
        if not isinstance(belief, Posterior):
            raise ValueError(f"belief must be a Posterior, got {belief!r:.80}")
        self._viewed = belief
        self._moment = None if time is None else real_array("time", time, (None,))

    @property
    def time(self) -> Vector | None:
        """The time of each event of the round, (E,)."""
        return self._moment

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""
        return self._viewed.dim

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""
        return self._viewed.is_armed

    def draws(
        self,
        rng: Generator | None,
        nodes: ArrayLike,
        *,
        repeats: int = 1,
        fresh: bool = False,
        time: ArrayLike | None = None,
    ) -> tuple[Matrix, Indices]:
        """Joint draws as a table of parameters, and the row of each event, draw after draw.

        Without `rng`, the posterior means.  Repeats of a node share its draw, and nodes share
        those of their ancestors; with `fresh`, every node draws ancestors of its own.
        """
        if rng is not None:
            generator("rng", rng)
        checked, times = self._checked(nodes, time)
        repeats = count("repeats", repeats, least=1)
        return self._viewed._raw_draws(rng, checked, repeats=repeats, fresh=fresh, time=times)

    def best_arms(
        self,
        rng: Generator,
        nodes: ArrayLike,
        arms: Arms,
        *,
        drawn: bool = True,
        repeats: int = 1,
        fresh: bool = False,
        scale: float = 1.0,
    ) -> Indices:
        """The number of each event's best arm in a joint draw, draw after draw, (repeats * E,).

        Or, unless `drawn`, at the posterior means.  `scale` is how far draws are from the means,
        in units of how far the posterior's are; `repeats` and `fresh` are those of `draws`.
        """
        checked, times = self._checked(nodes, None)
        return self._viewed._raw_best_arms(
            generator("rng", rng),
            checked,
            self._fitting_arms(arms, checked.size)._raw_arrays,
            drawn=drawn,
            repeats=count("repeats", repeats, least=1),
            fresh=fresh,
            scale=float(positive("scale", scale, ())) if scale != 1.0 else 1.0,
            time=times,
        )

    def _fitting_arms(self, arms: Arms, num_events: int) -> Arms:
        """These arms, if they are of so many events and have the form that the belief knows."""
        if not isinstance(arms, Arms) or arms.num_events != num_events:
            raise ValueError(f"arms must be Arms of {num_events} events, got {arms!r:.80}")
        if self.is_armed:
            index_array("arms", arms._own_table, self.dim, "arms")
        elif arms._own_table.ndim != 2 or arms._own_table.shape[1] != self.dim:
            raise ValueError(f"arms must have {self.dim} features, got {arms._own_table.shape}")
        return arms

    def predict(
        self, nodes: ArrayLike, features: ArrayLike, *, time: ArrayLike | None = None
    ) -> Prediction:
        """The posterior of x @ theta for each node and its features, (E, d), or arms, (E,)."""
        checked, times = self._checked(nodes, time)
        table = self._viewed.checked_features(features, checked.size)
        return self._viewed._raw_predict(checked, table, np.arange(checked.size), times)

    def predict_rows(
        self,
        nodes: ArrayLike,
        table: ArrayLike,
        rows: ArrayLike,
        *,
        time: ArrayLike | None = None,
    ) -> Prediction:
        """`predict` with the features looked up: node e has those of row rows[e] of a table."""
        checked, times = self._checked(nodes, time)
        features = self._viewed.checked_features(table, np.shape(table)[0] if np.ndim(table) else 0)
        places = index_array("rows", rows, len(features), "rows")
        if places.size != checked.size:
            raise ValueError(f"rows must match {checked.size} nodes, got {places.size}")
        return self._viewed._raw_predict(checked, features, places, times)

    def task(self, node: int) -> Gaussian:
        """The marginal posterior of a node's parameter."""
        return self._viewed.task(int(self._viewed.checked_nodes([node], "node")[0]))

    def uncertainty(self, node: int) -> Uncertainty:
        """A node's covariance, split into its own and what comes from above it."""
        return self._viewed.uncertainty(int(self._viewed.checked_nodes([node], "node")[0]))

    def _checked(self, nodes: ArrayLike, time: ArrayLike | None) -> tuple[Indices, Vector | None]:
        """Nodes and their times, for kernels."""
        checked = self._viewed.checked_nodes(nodes, "nodes")
        if time is None and self._moment is not None:
            if self._moment.size != checked.size:
                raise ValueError(
                    f"time must be given for {checked.size} nodes, since the round has times for "
                    f"its {self._moment.size} events"
                )
            return checked, self._moment
        return checked, checked_time(time, checked)
