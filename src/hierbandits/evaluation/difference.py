"""What one policy earns more than another, on the same rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hierbandits.evaluation.estimators import ESTIMATORS, REWARD, degrees, effective_size, student
from hierbandits.evaluation.moments import Moments
from hierbandits.evaluation.weighing import APART, OTHER, Tally

if TYPE_CHECKING:
    from hierbandits.evaluation.evaluation import Estimate

LOGGED = "logged"


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean reward of a policy less that of another, by one method, on the same rows.

    The luck of the rows that both share cancels, so this is more precise than the difference of
    two estimates.  NaN where the rows do not tell.
    """

    policy: str
    method: str
    against: str  # "logged": the policy that made the log; or a frozen policy
    value: float
    error: float
    degrees: float  # of freedom of Student's t
    low: float
    high: float

    @classmethod
    def of(
        cls,
        names: tuple[str, str, str],
        value: float,
        error: float,
        freedom: float,
        confidence: float,
    ) -> "Difference":
        """A difference with its interval; `names` are the policy, the method and the other."""
        half = _half(error, freedom, confidence)
        return cls(*names, value, error, freedom, value - half, value + half)

    @classmethod
    def to_log(cls, estimate: "Estimate", freedom: float, confidence: float) -> "Difference":
        """An estimate's improvement over the log."""
        half = estimate.improvement_high - estimate.improvement
        error = half / float(student(confidence, np.array(freedom)))
        names = estimate.policy, estimate.method, LOGGED
        return cls.of(names, estimate.improvement, error, freedom, confidence)

    @classmethod
    def weighed(
        cls, names: tuple[str, str, str], tally: Tally, confidence: float, beside: float = 0.0
    ) -> "Difference":
        """The difference of two policies that were weighed row by row; `beside`: see `estimate`."""
        paired = tally.paired
        own = ESTIMATORS[names[1]](_part(paired, 0))
        other = ESTIMATORS[names[1]](_part(paired, OTHER))
        weights = [*own.weights(), 0.0, *(-np.asarray(w) for w in other.weights()), 0.0, 0.0]
        value = float((own.value - other.value)[0])
        error = float(np.hypot(paired.error(*weights)[0], beside))
        if error == 0 and value == 0:  # they play the same arms
            return cls(*names, 0.0, 0.0, np.inf, 0.0, 0.0)
        freedom = degrees(effective_size(paired, APART))  # of the rows in which they differ
        return cls.of(names, value, error, float(freedom[0]), confidence)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The interval of another confidence."""
        half = _half(self.error, self.degrees, confidence)
        return self.value - half, self.value + half


def _half(error: float, freedom: float, confidence: float) -> float:
    return float(student(confidence, np.array(freedom))) * error if error else 0.0


def _part(paired: Moments, first: int) -> Moments:
    """The moments of one policy's w, w r and DR terms, and of the rewards."""
    places = [first, first + 1, first + 2, REWARD]
    return Moments(paired.n, paired.mean[:, places], paired.comoment[:, places][:, :, places])
