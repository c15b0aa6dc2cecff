"""Upper bounds of regrets, against loops over a dense posterior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.logged import drawn_case, trained_on_all

from hierbandits.evaluation import regret_bounds
from hierbandits.evaluation.regret_bounds import RegretBounds


def _by_hand(model, task, alpha, arms, table):
    """The largest alpha-bound of any other arm's mean less this arm's."""
    posterior = model.belief.task(task)
    cov = np.diag(posterior.cov) if posterior.cov.ndim == 1 else posterior.cov
    bounds = {}
    for a in arms:
        worst = []
        for b in arms:
            if b != a:
                x = table[b] - table[a]
                worst.append(x @ posterior.mean + alpha * np.sqrt(x @ cov @ x))
        bounds[a] = max(worst, default=0.0)
    return bounds


@pytest.mark.parametrize("form", ["armed", "correlated", "linear"])
def test_a_bound_is_the_worst_of_all_comparisons(form, monkeypatch):
    monkeypatch.setattr(regret_bounds, "CHUNK", 40)  # two tasks at a time
    rng, linear = np.random.default_rng(4), form == "linear"
    world, frame, features, prior = drawn_case(rng, linear, together=form == "correlated")
    table = np.array([features[f"a{i}"] for i in range(4)]) if linear else None
    model = trained_on_all(world.log(frame, population="group"), prior, table).model()
    eligible = rng.random((6, 4)) < 0.7
    eligible[:, 1] = True
    eligible[5] = [False, True, False, False]
    for alpha in (0.0, 1.7):
        policy = RegretBounds.of(model, alpha)
        bounds, shares = policy.bounds(np.arange(6), eligible), policy(np.arange(6), eligible)
        assert_allclose(shares.sum(axis=1), 1.0)
        for task in range(6):
            arms = np.flatnonzero(eligible[task])
            expected = _by_hand(model, task, alpha, arms, np.eye(4) if table is None else table)
            assert_allclose(bounds[task, arms], list(expected.values()), rtol=1e-9, atol=1e-12)
            assert np.isinf(bounds[task, ~eligible[task]]).all()
            assert shares[task].argmax() == min(expected, key=expected.get)
            if alpha == 0:  # greedy
                assert shares[task].argmax() == arms[model.means[task, arms].argmax()]


def test_two_arms_are_compared_by_their_means_however_rarely_one_was_tried():
    """The lower bound of the rare arm's own value is far lower, and it is still the better bet."""
    policy = RegretBounds(np.array([[1.0, 0.8]]), np.array([[0.5, 0.001]]), None, 2.45)
    assert policy(np.array([0]), np.ones((1, 2), bool)).tolist() == [[1.0, 0.0]]


def test_of_several_arms_the_one_that_is_known_best_is_preferred():
    """Rarely tried arms may lose much to each other; the known arm loses little to either."""
    means, variances = np.array([[1.0, 1.05, 1.05]]), np.array([[0.001, 0.5, 0.5]])
    policy = RegretBounds(means, variances, None, 2.45)
    assert policy(np.array([0]), np.ones((1, 3), bool)).tolist() == [[1.0, 0.0, 0.0]]
    assert RegretBounds(means, variances, None, 0.0)(
        np.array([0]), np.ones((1, 3), bool)
    ).tolist() == [[0.0, 0.5, 0.5]]
