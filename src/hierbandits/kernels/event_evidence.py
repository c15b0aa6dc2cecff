"""What one reward adds to the evidence of its population."""

import numpy as np

from hierbandits.compiler import inlined
from hierbandits.types import Matrix

MOST_SURPRISE = 1e290
"""The largest e^2 / V that counts: beyond it a sum of many would not be finite."""


@inlined
def count_event(evidence: Matrix, population: int, innovation: float, var: float) -> None:
    """Count a reward of innovation e and variance V: their number, sum log V, sum e^2 / V."""
    evidence[0, population] += 1.0
    evidence[1, population] += np.log(var)
    evidence[2, population] += min(innovation * innovation / var, MOST_SURPRISE)
