"""Nodes that are added later, several hierarchies side by side, and bad shapes of a forest."""

import copy
import pickle
import sys

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import Belief, GaussianHierarchy
from hierbandits.beliefs import forest, nodes
from hierbandits.beliefs.reserved_rows import ReservedRows


def _two_levels(rng, d, hyper_cov, task_cov):
    return GaussianHierarchy(
        hyper_mean=rng.standard_normal(d), hyper_cov=hyper_cov, task_cov=task_cov, noise_std=0.7
    )


def test_several_hierarchies_in_one_belief_are_as_if_apart():
    rng = np.random.default_rng(4)
    d, m = 3, 2
    priors = [_two_levels(rng, d, random_cov(rng, d), random_cov(rng, d)) for _ in range(2)]
    together = Belief(priors, m, 2)  # populations 0 and 1 of the first, 2 and 3 of the second
    assert together.num_populations == 4
    tasks = rng.integers(0, 4 * m, 40)
    x, y = rng.standard_normal((40, d)), rng.standard_normal(40)
    together.observe(tasks, x, y)
    for h, prior in enumerate(priors):
        apart = Belief(prior, m, 2)
        mine = tasks // (2 * m) == h
        apart.observe(tasks[mine] - 2 * m * h, x[mine], y[mine])
        for s in range(2 * m):
            np.testing.assert_array_equal(together.task(2 * m * h + s).mean, apart.task(s).mean)
            np.testing.assert_array_equal(together.task(2 * m * h + s).cov, apart.task(s).cov)
        np.testing.assert_array_equal(
            together.log_evidence()[2 * h : 2 * h + 2], apart.log_evidence()
        )


@pytest.mark.parametrize("armed", [False, True])
def test_tasks_and_populations_added_later_are_like_those_from_the_start(armed):
    rng = np.random.default_rng(5)
    d = 3
    if armed:
        prior = GaussianHierarchy.armed(d, hyper_std=1.0, task_std=0.4, noise_std=0.5)
        wider = GaussianHierarchy.armed(d, hyper_std=2.0, task_std=0.8, noise_std=0.9)
    else:
        prior = _two_levels(rng, d, random_cov(rng, d), random_cov(rng, d))
        wider = _two_levels(rng, d, random_cov(rng, d, 2.0), random_cov(rng, d))
    features = rng.integers(0, d, 60) if armed else rng.standard_normal((60, d))
    rewards = rng.standard_normal(60)
    grown = Belief(prior)
    first = [int(grown.add(grown.roots[0])[0]) for _ in range(40)]
    grown.observe(np.array(first)[np.arange(60) % 40], features, rewards)
    (population,) = grown.add_populations(1, wider, hyper_means=[[1.0, 2.0, 3.0]])
    second = grown.add(grown.roots[population], 3)
    grown.observe(second[np.arange(60) % 3], features, rewards)

    fixed = Belief(prior, 40)
    fixed.observe(np.arange(60) % 40, features, rewards)
    for s in (0, 39):
        np.testing.assert_array_equal(grown.task(first[s]).mean, fixed.task(s).mean)
        np.testing.assert_array_equal(grown.task(first[s]).cov, fixed.task(s).cov)
    other = Belief(wider, 3, hyper_means=[[1.0, 2.0, 3.0]])
    other.observe(np.arange(60) % 3, features, rewards)
    np.testing.assert_array_equal(grown.task(second[2]).mean, other.task(2).mean)
    np.testing.assert_array_equal(grown.log_evidence()[1], other.log_evidence()[0])


@pytest.mark.parametrize("armed", [False, True])
def test_one_event_reaches_nodes_that_came_later_and_those_of_a_copy_alone(armed):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    if not armed:
        rng = np.random.default_rng(6)
        prior = _two_levels(rng, 2, random_cov(rng, 2), random_cov(rng, 2))
    x = 1 if armed else np.array([0.3, -1.2])
    belief, right = Belief(prior, 1), Belief(prior, 50)
    tasks = [0, *(int(belief.add(belief.roots[0])[0]) for _ in range(49))]
    for place, task in enumerate(tasks):
        belief._raw_observe_one(task, x, float(place))
        right.observe([place], [x], [float(place)])
    before = belief._nodes.state.copy()
    twins = [belief.copy() for _ in range(3)]
    twins[1]._nodes = copy.deepcopy(belief._nodes)
    twins[2]._nodes = pickle.loads(pickle.dumps(belief._nodes))
    for twin in twins:
        twin._raw_observe_one(tasks[3], x, 2.0)
    np.testing.assert_array_equal(belief._nodes.state, before)
    for task, place in ((tasks[0], 0), (tasks[49], 49)):
        np.testing.assert_allclose(belief.task(task).mean, right.task(place).mean)
    belief._raw_observe_one(tasks[3], x, 2.0)
    for twin in twins:
        np.testing.assert_array_equal(twin.task(tasks[3]).mean, belief.task(tasks[3]).mean)


GROWTHS = {
    "tasks": (lambda belief: belief.add(3, 5), 3),
    "populations": (lambda belief: belief.add_populations(2), 4),
}
"""Ways to grow, and how many arrays each needs."""


@pytest.mark.parametrize(
    ("way", "fails_at"), [(way, n) for way, (_, arrays) in GROWTHS.items() for n in range(arrays)]
)
def test_a_belief_whose_growth_fails_keeps_its_size(monkeypatch, way, fails_at):
    """A node without a block would let kernels read beyond the arrays."""
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    belief, made = Belief(prior, 3), []

    def scarce(make):
        def made_or_not(*arguments):
            if len(made) == fails_at:
                raise MemoryError
            made.append(make(*arguments))
            return made[-1]

        return made_or_not

    for owner in (nodes, forest, ReservedRows):
        monkeypatch.setattr(owner, "with_room", scarce(owner.with_room))
    with pytest.raises(MemoryError):
        GROWTHS[way][0](belief)
    assert (belief.num_nodes, belief.num_populations, len(belief.log_evidence())) == (4, 1, 1)
    assert belief.roots.tolist() == [3]
    monkeypatch.undo()
    assert belief.add(3, 2).tolist() == [4, 5]
    belief.observe([5], [[1.0, 2.0]], [1.0])
    assert Belief.from_state(*belief.state()).num_nodes == 6


@pytest.mark.parametrize("line", range(1, 20))
def test_kernels_see_arrays_that_are_kept_wherever_growth_is_interrupted(line):
    """An address says nothing of its array: nobody else would notice that it is gone."""
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    known = Belief(prior, 3)._nodes
    first = nodes.Nodes._show.__code__.co_firstlineno

    def interrupt(frame, event, argument):
        if frame.f_code is nodes.Nodes._show.__code__:
            if event == "line" and frame.f_lineno >= first + line:
                raise KeyboardInterrupt
            return interrupt
        return None

    before = sys.gettrace()
    sys.settrace(interrupt)
    try:
        known.sprout(3, 50)
    except KeyboardInterrupt:
        assert known.size == 4
    finally:
        sys.settrace(before)
    assert known.address == known._addresses.ctypes.data
    assert known._addresses[:6].tolist() == [array.ctypes.data for array in known.arrays]
    assert known.arrays[4] is known.state  # what others see is what kernels see
    assert len(known.arrays[0]) >= known.size
