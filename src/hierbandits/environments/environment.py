"""What a world must offer: arms, rewards, and the truth that regret is measured against."""

from typing import Protocol

from numpy.random import Generator

from hierbandits.keyed_random import Events
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


class Worlds(Protocol):
    """A batch of runs, each with its own truth."""

    truth: Matrix  # the hyper-parameter of each run, (runs, d): what OracleTS is told

    def offer(self, events: Events) -> Arms:
        """The arms of each event; the same for every policy."""

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice, (E,) each.

        The luck in a reward depends on the event alone, not on who plays.
        """


class Environment(Protocol):
    """Draws batches of runs; owns the truth and the regret."""

    @property
    def num_tasks(self) -> int:
        """The number of tasks of each run."""

    @property
    def prior(self) -> GaussianHierarchy:
        """What policies are told."""

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> Worlds:
        """The runs first_run, first_run + 1, ... of the study with this seed."""
