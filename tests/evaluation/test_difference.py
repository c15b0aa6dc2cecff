"""What one policy earns more than another, on the same rows."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import World, drawn_table, table_policy

from hierbandits import Belief, evaluate
from hierbandits.evaluation.difference import Difference


def _between(evaluation, policy, method, against):
    (one,) = (
        each
        for each in evaluation.differences
        if (each.policy, each.method, each.against) == (policy, method, against)
    )
    return one


def _terms(frame, prior):
    """Per row the arm played, the propensity, the reward and the model's means, by hand."""
    early, late = frame[: len(frame) // 2], frame[len(frame) // 2 :]
    belief = Belief(prior, 6)
    belief.observe(
        [int(task[1:]) for task in early["task"]],
        [int(arm[1:]) for arm in early["arm"]],
        early["reward"].to_numpy(),
    )
    means = np.array([belief.task(s).mean for s in range(6)])
    counts = np.bincount([int(task[1:]) for task in early["task"]], minlength=6)
    best = int((counts @ means).argmax())
    tasks = np.array([int(task[1:]) for task in late["task"]])
    arms = np.array([int(arm[1:]) for arm in late["arm"]])
    return tasks, arms, late["p"].to_numpy(), late["reward"].to_numpy(), means, best


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(3)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 800), drawn_table(rng)
    policies = {"single": "best arm", "mine": table_policy(table)}
    evaluation = evaluate(world.log(frame), policies, prior=world.prior(), split="time")
    return evaluation, _terms(frame, world.prior()), table / table.sum(axis=1, keepdims=True)


def test_differences_to_the_best_arm_are_means_of_paired_rows(case):
    evaluation, (tasks, arms, p, r, means, best), table = case
    assert (evaluation.reference, evaluation.best_arms) == ("single", (f"a{best}",))
    w, v = table[tasks, arms] / p, (arms == best) / p
    model = means[tasks, arms]
    dr = (table * means).sum(axis=1)[tasks] + w * (r - model)
    other = means[tasks, best] + v * (r - model)
    snips, single = (w * r).sum() / w.sum(), (v * r).sum() / v.sum()
    rows = {
        "ips": w * r - v * r,
        "dr": dr - other,
        "snips": w * (r - snips) / w.mean() - v * (r - single) / v.mean(),
    }
    value = {"ips": rows["ips"].mean(), "dr": rows["dr"].mean(), "snips": snips - single}
    apart = np.abs(w - v)
    freedom = apart.sum() ** 2 / (apart**2).sum() - 1
    reach = scipy.stats.t.ppf(0.975, freedom)
    wide = scipy.stats.t.ppf(0.995, freedom)
    for method, each in rows.items():
        error = each.std(ddof=1) / np.sqrt(each.size)
        one = _between(evaluation, "mine", method, "single")
        assert_allclose([one.value, one.error, one.degrees], [value[method], error, freedom])
        assert_allclose([one.low, one.high], value[method] + reach * error * np.array([-1, 1]))
        assert_allclose(one.interval(0.99), value[method] + wide * error * np.array([-1, 1]))


def test_the_model_has_a_difference_of_its_own(case):
    evaluation, (tasks, _, _, _, means, best), table = case
    one = _between(evaluation, "mine", "dm", "single")
    assert_allclose(one.value, ((table * means).sum(axis=1) - means[:, best])[tasks].mean())
    mine, single = evaluation["mine", "dm"], evaluation["single", "dm"]
    assert_allclose(one.value, mine.value - single.value)
    assert abs(mine.error - single.error) < one.error < mine.error + single.error


def test_differences_to_the_log_are_the_improvements(case):
    evaluation, *_ = case
    for estimate in evaluation.estimates[1:]:
        one = _between(evaluation, estimate.policy, estimate.method, "logged")
        expected = [estimate.improvement, estimate.improvement_low, estimate.improvement_high]
        assert_allclose([one.value, one.low, one.high], expected)


def test_policies_that_play_the_same_arms_do_not_differ():
    rng = np.random.default_rng(5)
    world = World(np.tile([0.0, 3.0, 0.0], (6, 1)), np.full((6, 3), 1 / 3), noise=0.1)
    log = world.log(world.rows(rng, 300))
    evaluation = evaluate(log, ["best arm", "greedy", "uniform"], prior=world.prior())
    for method in ("ips", "snips", "dr"):
        one = _between(evaluation, "greedy", method, "best arm")
        assert (one.value, one.error, one.low, one.high) == (0, 0, 0, 0)
    assert _between(evaluation, "uniform", "dr", "best arm").high < -1


def test_pairing_makes_intervals_that_hold_and_are_shorter():
    """A policy that mostly agrees with the best arm: the difference is known best."""
    world = World(np.tile([1.5, 0.3, 0.0], (6, 1)), np.full((6, 3), 1 / 3))
    table = np.array([[1.0, 0.0, 0.0]] * 5 + [[0.0, 1.0, 0.0]])
    held, shorter = [], []
    for seed in range(100):
        frame = world.rows(np.random.default_rng([6, seed]), 400)
        policies = {"best arm": "best arm", "mine": table_policy(table)}
        evaluation = evaluate(world.log(frame), policies, ["dr"], prior=world.prior(), folds=2)
        assert evaluation.best_arms == ("a0", "a0")
        gap = _between(evaluation, "mine", "dr", "best arm")
        held.append(gap.low <= -1.2 / 6 <= gap.high)
        errors = [evaluation[name, "dr"].error for name in policies]
        shorter.append(gap.error < 0.9 * np.hypot(*errors))
    assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 100) < np.mean(held)
    assert np.mean(shorter) == 1


def test_too_few_rows_in_which_policies_differ_give_no_interval():
    few = Difference.of(("mine", "dr", "logged"), 1.0, 0.5, np.nan, 0.95)
    assert np.isnan(few.low)
    assert np.isnan(few.interval(0.5)).all()
