"""Whether a policy is worse than its control: seldom wrong, found if it is."""

import json

import numpy as np
import pytest

from hierbandits.service.bounded_mean import BoundedMean
from hierbandits.service.mean_difference import MeanDifference


def crossed(rng, policy, control, margin, number):
    """Whether events of these rates are ever an alarm."""
    judge = MeanDifference(margin)
    for _ in range(number):
        is_control = bool(rng.random() < 0.4)
        rate = control if is_control else policy
        judge.add(float(rng.random() < rate), is_control=is_control)
        if judge.evidence >= 100:
            return True
    return False


@pytest.mark.parametrize(("policy", "control"), [(0.12, 0.1), (0.02, 0.0), (1.0, 0.98), (0.5, 0.9)])
def test_a_policy_within_its_margin_is_no_alarm(policy, control):
    rng = np.random.default_rng(1)
    assert not any(crossed(rng, policy, control, 0.02, 300) for _ in range(20))


@pytest.mark.parametrize(("policy", "control"), [(0.5, 0.1), (0.9, 0.6), (0.3, 0.02)])
def test_a_policy_that_is_much_worse_is_found(policy, control):
    rng = np.random.default_rng(2)
    assert all(crossed(rng, policy, control, 0.02, 1500) for _ in range(5))


def test_the_control_alone_and_the_policy_alone_say_nothing():
    for is_control in (False, True):
        judge = MeanDifference(0.0)
        for value in [1.0, 0.0] * 200:
            judge.add(value, is_control=is_control)
            assert judge.evidence <= 1


def test_the_least_product_over_all_means_of_the_control():
    judge, edges = MeanDifference(0.1), np.linspace(0, 0.89, 2000)
    rng = np.random.default_rng(3)
    values = [(float(rng.random()), bool(rng.random() < 0.5)) for _ in range(30)]
    for value, is_control in values:
        judge.add(value, is_control=is_control)

    def product(mean):
        """The product of bets if the control's mean is this, one share at a time."""
        above, below = BoundedMean(mean + 0.1), BoundedMean(1 - mean)
        for value, is_control in values:
            (below if is_control else above).add(1 - value if is_control else value)
        return above.evidence * (below.evidence if mean > 0 else 1.0)

    assert judge.evidence <= min(product(mean) for mean in edges[::40])


def test_it_goes_on_after_a_file_bit_for_bit():
    rng, one, two = np.random.default_rng(4), MeanDifference(0.05), MeanDifference(0.05)
    for _ in range(400):
        one.add(float(rng.random() < 0.9), is_control=bool(rng.random() < 0.3))
    two.restore(json.loads(json.dumps(one.to_dict(), allow_nan=False)))
    for judge in (one, two):
        judge.add(0.3, is_control=False)
    assert one.evidence == two.evidence
