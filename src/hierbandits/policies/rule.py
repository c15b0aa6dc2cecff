"""What a rule is: a function of a belief, a generator, tasks and their arms."""

from typing import Protocol

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices


class Rule(Protocol):
    """Chooses an arm for each event; returns arm numbers, (E,)."""

    def __call__(self, belief: Posterior, rng: Generator, tasks: Indices, arms: Arms, /) -> Indices:
        """The arm number of each event."""
