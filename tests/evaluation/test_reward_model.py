"""Evaluation of logs of clicks: the model's mean rewards are rates."""

import numpy as np
import polars as pl
import pytest
from support.click_logs import click_log

import hierbandits as hb

NAMED = {"task": "store", "arm": "banner", "reward": "clicks"}


def _log(seed=1, **more):
    """Arms are played at random: one of three each time."""
    return click_log(seed, **({"tasks": 15, "rows": 150, "rate": 0.05} | more))


def _value(log, arm):
    """The true mean reward of an arm, over the log's tasks."""
    rate = 1 / (1 + np.exp(-log.theta[:, arm]))
    return rate[log.tasks].mean()


@pytest.mark.parametrize("method", ["dm", "dr"])
def test_the_value_of_an_arm_is_a_rate_with_an_interval_that_holds_it(method):
    held, errors = 0, []
    for seed in range(6):
        log = _log(seed)
        result = hb.evaluate(
            log.frame(), ["arm:a2"], [method], **NAMED, rewards="bernoulli", uniform=True, folds=2
        )
        (estimate,) = [e for e in result.estimates if e.method == method]
        truth = _value(log, 2)
        held += estimate.low <= truth <= estimate.high
        errors.append((estimate.value - truth) / estimate.error)
    assert held >= 4
    assert np.abs(np.mean(errors)) < 1.3


def test_notes_say_what_rewards_are_taken_for():
    log = _log()
    result = hb.evaluate(
        log.frame(), ["arm:a1"], ["dm"], **NAMED, rewards="bernoulli", uniform=True, folds=2
    )
    assert any("taken for bernoulli" in note for note in result.notes)
    plain = hb.evaluate(log.frame(), ["arm:a1"], ["dm"], **NAMED, uniform=True, folds=2)
    assert any("--rewards bernoulli" in note for note in plain.notes)
    named = hb.evaluate(
        log.frame(), ["arm:a1"], ["dm"], **NAMED, rewards="gaussian", uniform=True, folds=2
    )
    assert not any("bernoulli" in note for note in named.notes)


def test_policies_of_clicks_are_frozen_and_replayed():
    log = _log(rows=60, rate=0.3)
    result = hb.evaluate(
        log.frame(),
        ["best arm", "HierOPO", "frozen:HierTS", "HierTS"],
        **NAMED,
        rewards="bernoulli",
        uniform=True,
        folds=2,
        draws=50,
    )
    values = [
        estimate.value for estimate in result.estimates if estimate.method in ("dm", "replay")
    ]
    assert len(values) == 4
    assert all(0 < value < 1 for value in values)
    assert (result.hieropo.mean > 0).all()
    assert (result.hieropo.mean < 1).all()


def test_a_prior_of_clicks_is_one_of_log_odds():
    log = _log(rate=0.3)
    prior = hb.GaussianHierarchy.armed(
        arms=["a0", "a1", "a2"], hyper_mean=-1.0, hyper_std=1.0, task_std=0.6, noise_std=1.0
    )
    values = []
    for given in (prior, hb.GeneralizedHierarchy(prior, "bernoulli")):
        result = hb.evaluate(
            log.frame(), ["arm:a0"], ["dm"], **NAMED, prior=given, rewards="bernoulli",
            uniform=True, folds=2,
        )  # fmt: skip
        values.append(next(e.value for e in result.estimates if e.method == "dm"))
    assert values[0] == values[1]
    assert values[0] == pytest.approx(_value(log, 0), abs=0.05)


def test_what_cannot_be_evaluated_is_refused():
    log = _log()
    log.rewards[9] = 3.0
    with pytest.raises(
        ValueError, match="reward must be 0 or 1, got 3 in column 'clicks' at row 9"
    ):
        hb.evaluate(log.frame(), ["arm:a1"], ["dm"], **NAMED, rewards="bernoulli", uniform=True)
    features = {f"a{i}": [1.0, float(i)] for i in range(3)}
    with pytest.raises(ValueError, match="arm_features must not be given with bernoulli"):
        hb.evaluate(
            _log().frame(), ["arm:a1"], ["dm"], **NAMED, rewards="bernoulli", uniform=True,
            arm_features=features,
        )  # fmt: skip
    with pytest.raises(ValueError, match="rewards must be one of"):
        hb.evaluate(pl.DataFrame(_log().frame()), ["arm:a1"], **NAMED, rewards="x", uniform=True)


def test_a_family_is_proposed_only_where_it_is_taken():
    log = _log()
    features = {f"a{i}": [1.0, float(i)] for i in range(3)}
    for options, told in (({}, True), ({"arm_features": features}, False)):
        result = hb.evaluate(log.frame(), ["arm:a1"], ["dm"], **NAMED, uniform=True, **options)
        assert any("--rewards" in note for note in result.notes) == told
