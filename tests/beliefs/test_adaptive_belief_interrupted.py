"""Adaptive beliefs whose calls are interrupted."""

import numpy as np
import pytest
from support.adaptive import TASKS, adaptive_belief, assert_same_knowledge, drawn_events
from support.interrupts import interrupted, num_places
from support.states import belief_state

from hierbandits import Belief
from hierbandits.beliefs import adaptive_belief as module


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


@pytest.mark.parametrize(
    ("armed", "way"), [(False, "one"), (True, "batch"), (False, "add"), (True, "remove")]
)
def test_a_look_that_was_interrupted_in_the_middle_leaves_no_trace(armed, way, monkeypatch):
    """Where its tasks are folded in some at a time, it must not miss a reward or a task."""
    monkeypatch.setattr(module, "WORK", 1.0)
    tasks, features, rewards = drawn_events(4, 300, armed)

    def ready():
        belief, _ = adaptive_belief(armed, None)
        belief.add(TASKS, 20)
        for e in range(250):
            belief._raw_observe_one(int(tasks[e]), features[e], float(rewards[e]))
            review = belief._review
            if e > 10 and review is not None and 0 < review.folded < belief.num_nodes:
                return belief, e + 1
        raise AssertionError("no look is under way")

    def call(belief, e):
        if way == "one":
            belief._raw_observe_one(int(tasks[e]), features[e], float(rewards[e]))
        elif way == "batch":
            belief.observe(tasks[e : e + 3], features[e : e + 3], rewards[e : e + 3])
        elif way == "add":
            belief.add(TASKS, 3)
        else:
            belief._raw_remove_newest(3)

    first, second = ready(), ready()
    call(*first)
    for place in range(num_places(lambda: call(*second))):
        belief, e = ready()
        assert interrupted(lambda: call(belief, e), KeyboardInterrupt, place)  # noqa: B023
        belief.state()  # ends the look, if it is there still
        again = Belief.from_sums(belief.hierarchy(), belief.sums.rows(np.arange(TASKS)))
        assert belief.num_rewards.sum() == belief.sums.n.sum()
        assert_same_knowledge(belief, again, range(TASKS + 1))
