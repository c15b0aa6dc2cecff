"""The thinned curve: which rounds it keeps, and that it keeps their values."""

import numpy as np
import pytest
from support.environments import ENVIRONMENTS

from hierbandits import simulate
from hierbandits.simulation.regret_curve import RegretCurve
from hierbandits.simulation.schedules import Concurrent


@pytest.mark.parametrize(
    ("points", "rounds", "kept"),
    [
        (3, 5, [1, 2, 3, 4, 5]),
        (3, 6, [2, 4, 6]),
        (3, 7, [2, 4, 6, 7]),
        (3, 12, [4, 8, 12]),
        (3, 23, [4, 8, 12, 16, 20, 23]),
        (1, 9, [8, 9]),
    ],
)
def test_every_other_round_is_dropped_when_there_are_twice_as_many(points, rounds, kept):
    curve, regret = RegretCurve(points), np.zeros(2)
    for number in range(1, rounds + 1):
        regret += [number, 0.5]  # in place, as the simulator does
        curve.add(number, regret)
    at, values = curve.finished(rounds, regret)
    assert at.tolist() == kept
    np.testing.assert_array_equal(values[0], [number * (number + 1) / 2 for number in kept])
    np.testing.assert_array_equal(values[1], [number / 2 for number in kept])


def test_curves_are_thinned_and_end_at_the_end():
    study = simulate(
        ENVIRONMENTS["armed"], ["TS"], Concurrent(1), runs=2, num_interactions=37, points=10
    )
    assert study.rounds.tolist() == [*range(16, 185, 16), 185]
    whole = simulate(
        ENVIRONMENTS["armed"], ["TS"], Concurrent(1), runs=2, num_interactions=37, points=200
    )
    curves = study.outcomes["TS"].curve, whole.outcomes["TS"].curve[:, study.rounds - 1]
    np.testing.assert_array_equal(*curves)
