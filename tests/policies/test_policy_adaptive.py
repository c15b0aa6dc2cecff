"""Policies that learn the widths: their propensities are right."""

import numpy as np
import pytest
from support.adaptive import NOISE, TASKS, D, adaptive_belief, drawn_events, observe_one_by_one

from hierbandits.policies.policy import Policy
from hierbandits.policies.thompson_rule import thompson


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("populations", [1, 3])
def test_propensities_are_the_frequencies_of_choices(noise, populations):
    """What many draws at once choose is what draws one at a time do."""
    events = drawn_events(21, 12 * populations, True, populations=populations)
    belief, _ = adaptive_belief(True, noise, populations)
    observe_one_by_one(belief, *events)
    rng, policy = np.random.default_rng(22), Policy(belief, thompson)
    round_of = np.array([1, TASKS * populations - 1, 1])  # of two populations, if there are
    plain = np.array([policy.act(rng, round_of) for _ in range(2000)])
    frequency = np.array([np.bincount(column, minlength=D) / 2000 for column in plain.T])
    choices, shares = policy.act_with_propensities(rng, round_of, draws=4000)
    assert (choices[0], shares[0]) == (choices[2], shares[2])
    expected = frequency[np.arange(3), choices]
    error = np.sqrt(expected * (1 - expected) * (1 / 2000 + 1 / 4000))
    assert (expected > 0.1).all()
    assert (expected < 0.99).all()
    assert (np.abs(shares - expected) < 5 * error).all()
