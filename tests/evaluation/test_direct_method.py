"""The direct method and its error."""

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import drawn_case, drawn_table, table_policy
from support.oracle import dense_posterior, full

from hierbandits import evaluate


@pytest.mark.parametrize("form", ["armed", "correlated", "linear"])
def test_the_direct_method_has_the_error_of_the_dense_joint_posterior(form):
    rng, linear = np.random.default_rng(2), form == "linear"
    world, frame, features, prior = drawn_case(rng, linear, together=form == "correlated")
    table = drawn_table(rng, arms=4)
    log = world.log(frame, population="group")  # tasks 0 to 3 and 4 to 5
    evaluation = evaluate(
        log, {"mine": table_policy(table)}, ["dm"], prior=prior, split="time", arm_features=features
    )
    x = np.eye(4) if not linear else np.array([features[f"a{i}"] for i in range(4)])
    d = x.shape[1]
    parents = [6, 6, 6, 6, 7, 7, -1, -1]
    covs = [full(prior.task_cov)] * 6 + [full(prior.hyper_cov)] * 2
    means = [None] * 6 + [prior.hyper_mean] * 2
    early, late = frame[:150], frame[150:]
    design = np.zeros((150, 8 * d))
    for e, (task, arm) in enumerate(early.select("task", "arm").iter_rows()):
        s = int(task[1:])
        design[e, s * d : (s + 1) * d] = x[int(arm[1:])]
    noise = np.full(150, prior.noise_std**2)
    joint = dense_posterior(parents, covs, means, design, early["reward"].to_numpy(), noise)
    shares = table / table.sum(axis=1, keepdims=True)
    weights = np.zeros(8 * d)
    reach = scipy.stats.norm.ppf(0.975)
    for place, name in enumerate(evaluation.tasks):
        s = int(name[1:])
        own = np.zeros(8 * d)
        own[s * d : (s + 1) * d] = shares[s] @ x
        weights += own * (late["task"] == name).sum() / 150
        each = evaluation.by_task["mine", "dm"].estimates
        assert_allclose(each.value[place], own @ joint.mean, rtol=1e-8)
        assert_allclose(each.error[place], np.sqrt(own @ joint.cov @ own), rtol=1e-8)
    one = evaluation["mine", "dm"]
    error = np.sqrt(weights @ joint.cov @ weights)
    assert_allclose([one.value, one.error], [weights @ joint.mean, error], rtol=1e-8)
    assert_allclose([one.low, one.high], one.value + reach * error * np.array([-1, 1]), rtol=1e-8)
