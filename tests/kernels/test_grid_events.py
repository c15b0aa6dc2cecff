"""What events do to a grid is what placing it anew would do."""

import numpy as np
import pytest
from support.grid_worlds import KINDS, all_moments, random_events, random_prior, told

import hierbandits as hb
from hierbandits.kernels.grid_events import is_in_place


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_as_a_grid_of_all_sums(kind):
    rng = np.random.default_rng(2)
    prior = random_prior(rng, kind, resolution=64)
    belief = told(hb.GridBelief(prior, 4), random_events(rng, prior, 4, 40))
    for rows in range(30):  # events of sizes of their own, few enough that no grid moves
        told(belief, random_events(rng, prior, 4, 1 + rows % 2))
    before, evidence = all_moments(belief), belief.log_evidence()
    belief._place_all()
    np.testing.assert_allclose(all_moments(belief), before, rtol=1e-6)
    np.testing.assert_allclose(belief.log_evidence(), evidence, rtol=1e-8)


def test_a_grid_is_in_place_if_the_posterior_fills_it():
    n, depth, room = 16, 12.0, np.empty(16)
    x = np.linspace(-5.5, 5.5, n)

    def logs(width, tall, shift=0.0, lean=0.0):
        column = -0.5 * ((x - shift) / width) ** 2
        return (-0.5 * ((x - lean) / tall) ** 2)[:, None] + column

    assert is_in_place(logs(1.0, 1.0).ravel(), room, depth)
    for wrong in (
        logs(0.2, 1.0),  # too few cells of a column
        logs(1.0, 0.2),  # too few columns
        logs(1.0, 1.0, shift=3.0),  # beyond the end of columns
        logs(1.0, 1.0, lean=-3.0),  # beyond the first column
    ):
        assert not is_in_place(wrong.ravel(), room, depth)
    np.testing.assert_allclose(room, wrong.max(axis=1))
