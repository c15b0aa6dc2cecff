"""Times of events: checked, and handed down to the belief."""

import numpy as np
import pytest
from support.policies import D, both, every, small_policy, small_prior
from support.states import belief_state
from support.timed import TimedBelief

from hierbandits import Policy
from hierbandits.policies import thompson


@every
@both
def test_a_belief_that_stands_still_takes_no_notice(name, armed):
    policies = [small_policy(name, armed) for _ in range(2)]
    arms, x = (None, [0, 1]) if armed else (np.eye(D), np.eye(D)[:2])
    results = []
    for policy, more in zip(policies, ({}, {"time": [5.0, -1e9]}), strict=True):
        rng = np.random.default_rng(1)
        policy.learn([0, 1], x, [1.0, 2.0], **more)
        choices = policy.act(rng, [0, 1], arms, **more)
        weighed = policy.act_with_propensities(rng, [0, 1], arms, floor=0.1, **more)
        results.append([choices, *weighed, *policy.predict([0, 1], x, **more)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)
    assert belief_state(policies[0].belief) == belief_state(policies[1].belief)


def test_every_method_tells_the_belief():
    belief = TimedBelief(small_prior(True), 2)
    policy, rng, time = Policy(belief, thompson), np.random.default_rng(0), [3.0, 4.0]
    policy.learn([0, 1], [0, 1], [1.0, 1.0], time=time)
    policy.act(rng, [0, 1], time=time)
    policy.act_with_propensities(rng, [0, 1], time=time, draws=3)
    policy.predict([0, 1], [0, 1], time=time)
    policy.act(rng, [0, 1])
    kinds = ["observe", "draws", "draws", "predict"]
    assert belief.told == [(kind, [0, 1], time) for kind in kinds] + [("draws", [0, 1], None)]


@pytest.mark.parametrize("time", [[1.0], [np.nan, 1.0], [np.inf, 1.0], "ab", [[1.0, 2.0]]])
def test_wrong_times_change_nothing(time):
    policy, rng = small_policy("HierTS-forced", True), np.random.default_rng(0)
    before, luck = belief_state(policy.belief), rng.bit_generator.state
    for call in (
        lambda: policy.act(rng, [0, 1], time=time),
        lambda: policy.act_with_propensities(rng, [0, 1], time=time),
        lambda: policy.learn([0, 1], [0, 0], [1.0, 1.0], time=time),
        lambda: policy.predict([0, 1], [0, 0], time=time),
        lambda: policy.belief.sample(rng, [0, 1], time=time),
    ):
        with pytest.raises(ValueError, match="time must"):
            call()
    assert belief_state(policy.belief) == before
    assert rng.bit_generator.state == luck
    assert policy.forced.decided.sum() == 0
