"""The best arms as far as is known, and their probabilities."""

import numpy as np
from support.agent_lives import UNEVEN
from support.agents import LINEAR

from hierbandits import Arms, Belief
from hierbandits.policies import Policy, thompson


def test_ties_are_broken_at_random_and_share_the_probability():
    belief = Belief(UNEVEN.with_levels(np.array([1.0, 1.0, 0.5]), UNEVEN.covs), 2)
    arms = Arms._raw_shared(np.arange(3), 2).only([[True, True, True], [False, True, True]])
    policy, counts = Policy(belief, thompson), np.zeros((2, 3))
    for seed in range(400):
        choices, chances = policy._raw_choose_best(np.random.default_rng(seed), np.arange(2), arms)
        counts[np.arange(2), choices] += 1
    assert chances.tolist() == [0.5, 1.0]
    assert counts[1].tolist() == [0, 400, 0]
    assert counts[0, 2] == 0
    assert abs(counts[0, 0] - 200) < 6 * 10


def test_of_no_events_there_is_no_best_arm():
    policy = Policy(Belief(LINEAR, 1), thompson)
    choices, chances = policy._raw_choose_best(
        np.random.default_rng(0), np.empty(0, np.intp), Arms._raw_shared(np.eye(2), 0)
    )
    assert choices.size == chances.size == 0
