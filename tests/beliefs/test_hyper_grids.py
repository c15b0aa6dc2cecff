"""Grids of hyper-parameters: where they lie, and what files of them must say."""

import numpy as np
import pytest
from support.grid_worlds import KINDS, random_events, random_prior, told

import hierbandits as hb
from hierbandits.beliefs.hyper_grids import HyperGrids

each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_grids_follow_the_posterior(kind):
    """The more is known, the narrower are the ranges; and all mass stays inside them."""
    rng = np.random.default_rng(0)
    prior, widths = random_prior(rng, kind, 1), []
    theta = np.full((40, 1), 0.3)
    belief = hb.GridBelief(prior, 40)
    for number in (0, 40, 400, 4000):
        told(belief, random_events(rng, prior, 40, number, sized=False, theta=theta))
        cells = belief.hyper_cells(0)
        n = prior.resolution
        weights = cells.weight.reshape(n, n)
        assert weights[[0, -1]].sum() + weights[:, [0, -1]].sum() < 1e-6
        share = weights.sum(axis=1)
        steps = belief._grids.ranges[0, 0, :n, 1]
        widths.append((share * steps).sum())
    assert (np.diff(widths) <= 0).all()
    assert widths[-1] < widths[0] / 4


@each_kind
def test_damaged_grids_are_refused(kind):
    belief = hb.GridBelief(random_prior(np.random.default_rng(1), kind, 2), 3)
    meta, arrays = belief.state()
    for name, spoil, message in (
        ("ranges", lambda a: a * 0, "ranges must be those of grids"),
        ("ranges", lambda a: a * 1e6, "ranges must be those of grids"),
        ("ranges", lambda a: a[:, :, 1:], "ranges must have shape"),
        ("log_weights", lambda a: a + 1, "log_weights must be 0 at the highest"),
        ("log_weights", lambda a: a * np.nan, "log_weights must be finite"),
        ("log_weights", lambda a: a[:, :1], "log_weights must have shape"),
        ("state", lambda a: a - 1, "state must hold sums of rewards"),
        ("state", lambda a: a + 1e30, "state must hold sums of rewards"),
        ("state", lambda a: a + 0.5, "state must be|exposure must be"),
        ("evidence", lambda a: a - 1, "evidence must count rewards"),
    ):
        with pytest.raises(ValueError, match=message):
            hb.GridBelief.from_state(meta, arrays | {name: spoil(arrays[name])})
    with pytest.raises(ValueError, match="law must be one of beta, gamma"):
        hb.GridBelief.from_state(meta | {"law": "odd"}, arrays)
    wrong = meta | {"prior": KINDS[kind](3).to_dict()}
    with pytest.raises(ValueError, match="state must be of"):
        hb.GridBelief.from_state(wrong, arrays)


def test_copies_are_independent():
    prior = hb.BetaHierarchy(1)
    grids = HyperGrids(prior, 2)
    twin = grids.copy()
    twin.logs[:] = -1.0
    twin.ranges[:] = 0.5
    assert not grids.logs.any()
    assert (grids.ranges != 0.5).any()
