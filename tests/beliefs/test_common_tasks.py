"""Tasks with a part in common, many at a time: what they know, tell and explain."""

import numpy as np
from support.worlds import assert_close, random_hierarchy

from hierbandits import Belief, TaskSums, merge_contributions
from hierbandits.beliefs.common_tasks import CommonTasks

K, TASKS = 3, 5


def _observed():
    rng = np.random.default_rng(0)
    prior = random_hierarchy(rng, "common", K, (1.0, 0.5), rng.standard_normal(K), 0.6)
    tasks, arms = rng.integers(0, TASKS - 1, 30), rng.integers(0, K, 30)
    belief, sums = Belief(prior, TASKS), TaskSums.zeros(TASKS, K, armed=True)
    rewards = rng.standard_normal(30)
    belief.observe(tasks, arms, rewards)
    sums.add(tasks, arms, rewards)
    return prior, belief, sums


def _tasks(belief, sums, noise_var):
    own = np.tile(belief._nodes.levels.maps[1, 0], (TASKS, 1))
    return CommonTasks.after(own, sums.xx / noise_var, sums.xy / noise_var)


def test_sums_leave_the_blocks_that_events_leave():
    prior, belief, sums = _observed()
    known = _tasks(belief, sums, prior.noise_std**2)
    assert_close(known.blocks(), belief._nodes.state[:TASKS])
    again = CommonTasks.of(known.width * 0 + 1, known.blocks())
    np.testing.assert_array_equal(again.blocks()[:, :, :-1], known.blocks()[:, :, :-1])


def test_what_tasks_know_and_tell_is_that_of_inverses():
    prior, belief, sums = _observed()
    noise_var, inverse = prior.noise_std**2, np.linalg.inv(prior.task_cov)
    known = _tasks(belief, sums, noise_var)
    mean, cov, gain = known.given_parents()
    precision, weighted = known.contributions(np.array([0, 0, 1, 1, 1]), 2)
    expected = np.zeros((2, K, K)), np.zeros((2, K))
    for s in range(TASKS):
        G, B = np.diag(sums.xx[s]) / noise_var, sums.xy[s] / noise_var
        P = np.linalg.inv(inverse + G)
        assert_close(cov[s], P)
        assert_close(gain[s], P @ inverse)
        assert_close(mean[s], P @ B, scale=1.0)
        place = 0 if s < 2 else 1
        expected[0][place] += inverse - inverse @ P @ inverse
        expected[1][place] += inverse @ P @ B
        assert_close(known.explained(sums.xy / noise_var)[s], B @ P @ B, scale=1.0)
        assert_close(known.log_det[s], np.linalg.slogdet(prior.task_cov @ (inverse + G))[1],
                     scale=1.0)  # fmt: skip
    assert_close(precision, expected[0])
    assert_close(weighted, expected[1])


def test_contributions_merge_to_the_hyper_posterior():
    prior, belief, _ = _observed()
    parts = [belief.contribution([0, 1]), belief.contribution([2, 3, 4])]
    merged = merge_contributions(prior, parts)
    assert_close(merged.mean, belief.hyper().mean)
    assert_close(merged.cov, belief.hyper().cov)


def test_a_task_holds_few_numbers():
    rng = np.random.default_rng(0)
    prior = random_hierarchy(rng, "common", 50, (1.0, 0.5), np.zeros(50), 0.6)
    belief = Belief(prior, 100)
    assert belief._nodes.state.nbytes == 101 * 3 * 51 * 8
