"""Adaptive beliefs whose calls are interrupted."""

import numpy as np
import pytest
from support.adaptive import TASKS, adaptive_belief, assert_same_knowledge, drawn_events
from support.interrupts import interrupted, num_places
from support.states import belief_state

from hierbandits import Belief


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("size", [1, 5])
def test_an_interrupted_reward_is_learned_wholly_or_not(armed, size):
    """By the nodes and by the sums, wherever the interrupt comes; and looks begin anew."""

    def ready():
        belief, _ = adaptive_belief(armed, None)
        belief.observe(*drawn_events(1, 40, armed))
        return belief

    def observe(belief):
        if size == 1:
            belief._raw_observe_one(int(tasks[0]), features[0], float(rewards[0]))
        else:
            belief.observe(tasks, features, rewards)

    tasks, features, rewards = drawn_events(2, size, armed)
    first, second = ready(), ready()
    observe(first)  # compiles or loads what the second finds
    total = num_places(lambda: observe(second))
    told = set()
    for place in sorted({*range(0, min(total, 40), 2), *range(0, total, 1 + total // 8)}):
        belief = ready()
        assert interrupted(lambda: observe(belief), KeyboardInterrupt, place)  # noqa: B023
        number = belief.num_rewards.sum()
        told.add(number)
        if number == 40:
            observe(belief)
        belief.observe(*drawn_events(3, 30, armed))
        assert belief.num_rewards.sum() == belief.sums.n.sum() == 70 + size
        state = belief_state(belief)
        again = Belief.from_sums(belief.hierarchy(), belief.sums.rows(np.arange(TASKS)))
        assert_same_knowledge(belief, again, range(TASKS + 1))
        assert belief_state(belief) == state
        assert belief.due[0] > 70
    assert told == {40, 40 + size}
