"""Which family rewards look like."""

import numpy as np
import pytest

from hierbandits.logs.family_guess import FamilyGuess


@pytest.mark.parametrize(
    ("batches", "name"),
    [
        ([[0.0, 1.0], [1.0]], "bernoulli"),
        ([[0.0, 1.0], [4.0]], "poisson"),
        ([[7.0, 1.0], [0.0, 1.0]], "poisson"),
        ([[0.0, 1.0], [-1.0]], None),
        ([[0.5], [0.0, 1.0]], None),
    ],
)
def test_all_rewards_are_looked_at(batches, name):
    guess = FamilyGuess()
    for batch in batches:
        guess.add(np.array(batch))
    assert guess.name == name
    assert (guess.proposal is None) == (name is None)
