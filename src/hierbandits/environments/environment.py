"""What an environment must offer: arms, rewards, and the truth that regret is measured against."""

from typing import Protocol

from numpy.random import Generator

from hierbandits.environments.events import Events
from hierbandits.models.model import Model
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


class Worlds(Protocol):
    """The runs of a chunk.  Each run has its own truth."""

    truth: Matrix  # the hyper-parameter of each run, (runs, d); OracleTS alone is told it

    def offer(self, events: Events) -> Arms:
        """The arms of each event, the same for every policy."""

    def play(self, events: Events, arms: Arms, choices: Indices) -> tuple[Vector, Vector]:
        """The reward and the regret of each event's choice, (E,) each.

        The luck in a reward depends on the event alone, not on the policy that plays.
        """


class Environment(Protocol):
    """Draws the runs of a chunk, and knows their truth and the regret of every choice."""

    @property
    def num_tasks(self) -> int:
        """The number of tasks of each run."""

    @property
    def prior(self) -> Model:
        """What policies are told."""

    def worlds(self, rng: Generator, seed: int, first_run: int, runs: int) -> Worlds:
        """The runs first_run, first_run + 1, ... of the study with this seed, `runs` of them.

        What is drawn once for a run comes from `rng`.  What is drawn for an event comes from
        streams of `seed`, keyed by the event.
        """
