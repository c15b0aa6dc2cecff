"""The reference for clicks: draws from the exact posterior, by Polya-Gamma Gibbs sampling.

Given a weight omega ~ PG(n, eta) for each reward of n trials, the reward y is a Gaussian
observation of its log odds eta, with the site exp((y - n / 2) eta - omega eta^2 / 2).  So given all
weights the hierarchy is Gaussian, and given all parameters the weights are independent (Polson,
Scott and Windle 2013).
"""

from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.folding import fold
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.refit import Refit
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import count
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.models.binomial_rewards import BinomialRewards
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.types import Indices, Matrix, Vector

TERMS = 12
"""Of the sum of gamma variates that a Polya-Gamma one is; the mean of all others is added.

The others have less than an 80,000th of its variance.
"""


class GibbsBelief(MatchedBelief):
    """What is known given the last draw of all weights: a sample of it is a Gibbs draw.

    Each batch of rewards is followed by so many `sweeps`, so that `sample` draws from the posterior
    of log odds, nearly: no approximation but that the chain has moved on from its last state.  It
    costs a pass over all tasks for each sweep, and is for studies and tests.
    """

    KIND: ClassVar[str] = "gibbs belief"

    def __init__(
        self,
        prior: GeneralizedHierarchy,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
        sweeps: int = 5,
        seed: int = 0,
    ) -> None:
        super().__init__(prior, num_tasks, num_populations, hyper_means, population=population)
        if not isinstance(self.family, BinomialRewards):
            raise ValueError(f"prior must be of bernoulli or binomial rewards, got {prior}")
        if hyper_means is not None or prior.num_levels != 2:
            raise ValueError("prior must have two levels and the hyper-mean of all populations")
        self._chain_rng = np.random.default_rng(count("seed", seed))
        self._sweeps = count("sweeps", sweeps, least=1)
        self._first_roots = self._nodes.roots.copy()

    def _learn_sized(
        self,
        nodes: Indices,
        table: Matrix | Indices,
        rewards: Vector,
        exposure: Vector,
        noise: object,
    ) -> None:
        """Learn checked rewards of these exposures, and let the chain go on."""
        if noise is not None:
            raise ValueError("noise_std must not be given: the family says how rewards vary")
        empty = np.zeros((SITE_PARTS, nodes.size))
        self._site_rows.add(nodes, table, rewards, exposure, empty, nodes.size)
        trees = self._nodes.forest.populations(nodes)
        np.add.at(self._evidence.parts[0], trees, 1.0)
        self.sweep(self._sweeps)

    def sweep(self, number: int = 1) -> None:
        """Draw all parameters given the weights, then all weights given these, so many times."""
        rows = self._told_rows
        for _ in range(count("number", number)):
            theta = self.sample(self._chain_rng, rows.nodes)
            eta = (
                theta[np.arange(rows.size), rows.features]
                if self.is_armed
                else (theta * rows.features).sum(1)
            )
            rows.sites[0] = polya_gamma(self._chain_rng, rows.exposure, eta)
            rows.sites[1] = rows.rewards - rows.exposure / 2
            self._start_from_sites()

    def _start_from_sites(self) -> None:
        """Let all nodes know what the sites say, and nothing else."""
        rows, (precision, weighted, _) = self._told_rows, self._told_rows.sites
        sums = TaskSums.zeros(self.num_nodes, self.dim, armed=self.is_armed)
        if self.is_armed:
            np.add.at(sums.xx, (rows.nodes, rows.features), precision)
            np.add.at(sums.xy, (rows.nodes, rows.features), weighted)
            np.add.at(sums.n, rows.nodes, 1.0)
        else:
            root = np.sqrt(precision)
            sums._raw_add(rows.nodes, rows.features * root[:, None], weighted / root)
        tasks = np.flatnonzero(sums.n > 0)
        self._nodes.roots[:] = self._first_roots
        fold(self._nodes, tasks, sums.rows(tasks))

    def refit(self, *, sweeps: int = 1, tolerance: float = 1.0) -> Refit:
        """Let the chain go on for so many sweeps; the rest of the report is empty."""
        self.sweep(sweeps)
        return Refit(sweeps, 0.0, is_converged=True, hyper_shift=0.0, hyper_log_width=0.0)

    def _raw_settle(self) -> None:
        """Nothing: the chain moves with every batch."""

    def copy(self) -> "GibbsBelief":
        """An independent belief of the same state, whose chain goes on the same."""
        twin = super().copy()
        assert isinstance(twin, GibbsBelief)
        twin._chain_rng = deepcopy(self._chain_rng)
        return twin

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        meta, arrays = super().state()
        return {
            "sweeps": self._sweeps,
            "chain": self._chain_rng.bit_generator.state,
            **meta,
        }, arrays

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "GibbsBelief":
        """The belief that `state` described, checked."""
        belief = super().from_state(meta, arrays)
        assert isinstance(belief, cls)
        model = GeneralizedHierarchy(belief._nodes.levels.hierarchies[0], belief.family)
        fresh = cls(model, num_populations=belief.num_populations, sweeps=meta["sweeps"])
        try:
            fresh._chain_rng.bit_generator.state = meta["chain"]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"chain must be the state of a random generator: {error}") from None
        belief._chain_rng, belief._sweeps = fresh._chain_rng, fresh._sweeps
        belief._first_roots = fresh._first_roots
        return belief


def polya_gamma(rng: Generator, shape: Vector, tilt: Vector) -> Vector:
    """Draws of PG(shape, tilt), (E,): sum over k of Gamma(shape) / ((k - 1/2)^2 + (tilt / 2 pi)^2)

    over 2 pi^2, up to TERMS, and the mean of what is left.
    """
    squares = (np.arange(1, TERMS + 1) - 0.5) ** 2
    parts = 1 / (squares + (tilt[:, None] / (2 * np.pi)) ** 2)
    half = np.maximum(np.abs(tilt) / 2, 1e-8)
    mean = shape * np.tanh(half) / (4 * half)  # of the whole sum
    if (shape == 1).all():  # the usual case, and quicker
        drawn = rng.standard_exponential(parts.shape)
    else:
        drawn = rng.gamma(np.broadcast_to(shape[:, None], parts.shape))
    drawn -= shape[:, None]
    whole: Vector = np.einsum("ek,ek->e", drawn, parts) / (2 * np.pi**2) + mean
    return np.maximum(whole, 1e-12)
