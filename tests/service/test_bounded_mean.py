"""Whether a mean is above a bound: seldom wrong, soon right."""

import json

import numpy as np
import pytest

from hierbandits.service.bounded_mean import BoundedMean

POLICIES = 4000


def crossed(draw, bound, steps, seed=0, alpha=0.01):
    """The share of policies whose evidence ever reaches 1 / alpha."""
    rng, mean = np.random.default_rng(seed), BoundedMean(bound, (POLICIES,))
    ever = np.zeros(POLICIES, bool)
    for step in range(steps):
        mean.add(draw(rng, step))
        ever |= mean.evidence >= 1 / alpha
    return ever.mean()


@pytest.mark.parametrize("bound", [0.02, 0.5, 0.9])
def test_a_metric_at_its_bound_is_seldom_an_alarm(bound):
    share = crossed(lambda rng, step: rng.random(POLICIES) < bound, bound, 600)
    assert share <= 0.01


def test_a_heavier_alpha_alarms_more_and_is_kept_too():
    def draw(rng, step):
        return rng.random(POLICIES) < 0.5

    few, many = (crossed(draw, 0.5, 600, alpha=alpha) for alpha in (0.01, 0.2))
    assert few < many <= 0.2


@pytest.mark.parametrize(("bound", "truth", "steps"), [(0.02, 0.06, 1000), (0.5, 0.6, 1500)])
def test_a_metric_above_its_bound_is_found(bound, truth, steps):
    assert crossed(lambda rng, step: rng.random(POLICIES) < truth, bound, steps) > 0.95


def test_a_metric_that_becomes_bad_late_is_found():
    def draw(rng, step):
        return rng.random(POLICIES) < (0.3 if step < 2000 else 0.7)

    assert crossed(draw, 0.5, 2000) <= 0.01
    assert crossed(draw, 0.5, 2400) > 0.95


def test_one_policy_is_a_batch_of_one_and_goes_on_after_a_file():
    values = np.random.default_rng(2).random(40)
    alone, batch, loaded = BoundedMean(0.4), BoundedMean(0.4, (1,)), BoundedMean(0.4)
    for value in values[:30]:
        alone.add(value)
        batch.add(np.array([value]))
    loaded.restore(json.loads(json.dumps(alone.to_dict())))
    for value in values[30:]:
        for mean in (alone, loaded):
            mean.add(value)
        batch.add(np.array([value]))
    assert alone.evidence == loaded.evidence == batch.evidence[0]
    assert alone.sum == loaded.sum == pytest.approx(values.sum())
    assert alone.count == loaded.count == 40


def test_a_bet_gains_what_its_share_of_the_odds_gives():
    mean = BoundedMean(0.2)
    mean.add(1.0)
    shares = 0.9 / 2 ** np.arange(16)
    left = 0.5 / (1 + np.log(2))  # of what is bet later
    assert mean.evidence == pytest.approx(left + (1 - left) * np.mean(1 + shares * (1 / 0.2 - 1)))
    mean = BoundedMean(0.2)
    mean.add(0.0)
    assert mean.evidence == pytest.approx(left + (1 - left) * np.mean(1 - shares))
