"""What all tasks of a shared policy tell at one time: a generation of its hyper-posterior."""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from hierbandits.beliefs.contribution import Contribution
from hierbandits.models.hierarchy import GaussianHierarchy


@dataclass(frozen=True, slots=True, eq=False)
class SharedGeneration:
    """The widths that are believed, and the sums of C_s and b_s over what is folded of all tasks.

    Tasks keep what of their sums is folded.  So whoever acts for a task can take its part out of
    the whole, and put in what the task knows now.
    """

    number: int
    version: int  # of the policy's settings
    hierarchy: GaussianHierarchy
    told: Contribution
    rewards: int  # that are folded
    due: int | None  # the rewards at which widths are fitted again; None where they are known
    age: int  # how many generations ago all tasks were added up anew

    def to_row(self) -> tuple[Any, ...]:
        """As the store keeps it."""
        told = np.concatenate([self.told.precision.ravel(), self.told.weighted])
        hierarchy = msgspec.json.encode(self.hierarchy.to_dict())
        return (
            self.number, self.version, hierarchy, told.tobytes(), self.rewards, self.due, self.age,
        )  # fmt: skip

    @classmethod
    def from_row(
        cls, number: int, version: int, hierarchy: bytes, told: bytes, *rest: Any
    ) -> "SharedGeneration":
        """What `to_row` gave."""
        model = GaussianHierarchy.from_dict(msgspec.json.decode(hierarchy))
        numbers, shape = np.frombuffer(told), model.hyper_cov.shape
        precision, weighted = numbers[: -model.dim].reshape(shape), numbers[-model.dim :]
        return cls(number, version, model, Contribution(precision, weighted), *rest)
