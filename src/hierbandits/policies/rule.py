"""What a rule is: a function that chooses an arm for each event of a round."""

from typing import Protocol

from numpy.random import Generator

from hierbandits.beliefs.posterior import Posterior
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices


class Rule(Protocol):
    """Chooses among the arms of each event, from what the belief knows of the event's node."""

    def __call__(self, belief: Posterior, rng: Generator, nodes: Indices, arms: Arms, /) -> Indices:
        """The number of the arm that each event plays, (E,)."""
