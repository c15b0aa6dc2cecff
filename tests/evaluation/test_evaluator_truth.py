"""Evaluation against truth: intervals hold it as often as they say."""

import numpy as np
import polars as pl
import pytest
from support.logged import World, table_policy

from hierbandits import evaluate

RUNS = 160


FAR = 4.5  # standard errors


def _coverage(skew, rows, confidence, hidden=0.0):
    """Per run and method: the error of the estimate, and whether the interval holds the truth."""
    out = {method: [] for method in ("ips", "snips", "dm", "dr")}
    tasks = {method: [] for method in out}
    for run in range(RUNS):
        rng = np.random.default_rng([int(10 * skew), rows, run])
        world = World.drawn(rng, skew=skew)
        prior, frame = world.prior(), world.rows(rng, rows)
        if hidden:  # the log's policy saw a context that the model does not know
            frame = _with_hidden_context(rng, world, rows, hidden)
        table = np.tile([0.8, 0.1, 0.1], (6, 1))
        evaluation = evaluate(
            world.log(frame),
            {"mine": table_policy(table)},
            prior=prior,
            confidence=confidence,
            folds=2,
        )
        each = (table * world.values).sum(axis=1)
        names = [int(name[1:]) for name in evaluation.tasks]
        share = evaluation.by_task["logged", "logged"].rows / rows
        truth = {method: each.mean() for method in out} | {"dm": share @ each[names]}
        for method in out:
            one, by_task = evaluation["mine", method], evaluation.by_task["mine", method].estimates
            inside = one.low <= truth[method] <= one.high
            out[method].append((one.value - truth[method], inside))
            held = (by_task.low <= each[names]) & (each[names] <= by_task.high)
            tasks[method].append(held[np.isfinite(by_task.low)].mean())
    return {method: np.array(part) for method, part in out.items()}, {
        method: np.mean(part) for method, part in tasks.items()
    }


def _with_hidden_context(rng, world, rows, effect):
    seen = rng.random(rows) < 0.5
    task = rng.integers(0, 6, rows)
    odds = np.where(seen[:, None], [0.8, 0.1, 0.1], [0.2, 0.4, 0.4])
    arm = (odds.cumsum(1) < rng.random((rows, 1))).sum(1)
    reward = world.values[task, arm] + effect * (seen - 0.5) + rng.normal(size=rows)
    return pl.DataFrame(
        {
            "task": [f"t{i}" for i in task],
            "arm": [f"a{i}" for i in arm],
            "reward": reward,
            "p": odds[np.arange(rows), arm],
        }
    )


@pytest.mark.parametrize(
    ("skew", "rows", "confidence"), [(0.0, 300, 0.95), (1.0, 300, 0.8), (1.0, 100, 0.95)]
)
def test_estimates_are_unbiased_and_intervals_hold_the_truth_as_often_as_they_say(
    skew, rows, confidence
):
    overall, tasks = _coverage(skew, rows, confidence)
    for method, runs in overall.items():
        off, inside = runs.T
        if method in ("ips", "dr"):  # SNIPS and shrinkage are biased, by little
            assert abs(off.mean()) < FAR * off.std(ddof=1) / np.sqrt(RUNS)
        assert abs(off.mean()) < 0.4 * off.std(ddof=1)
        spare = FAR * np.sqrt(confidence * (1 - confidence) / RUNS)
        assert inside.mean() > confidence - spare
        if method != "dm":  # folds are taken as fully correlated there, which is cautious
            assert inside.mean() < min(confidence + spare, 1.0 + 1e-9)
        assert tasks[method] > confidence - 0.05


def test_doubly_robust_survives_a_wrong_model_and_the_direct_method_does_not():
    overall, _ = _coverage(0.0, 400, 0.95, hidden=2.0)
    off, inside = overall["dr"].T
    assert abs(off.mean()) < FAR * off.std(ddof=1) / np.sqrt(RUNS)
    assert inside.mean() > 0.95 - FAR * np.sqrt(0.95 * 0.05 / RUNS)
    off, inside = overall["dm"].T
    assert off.mean() > 0.2  # arm 0 was played where rewards were high anyway
    assert inside.mean() < 0.4


def test_a_log_that_always_chose_the_same_leaves_the_model_s_doubts():
    """Each task has rows of one arm alone: no weight corrects what the model says of others."""
    held = {"more": [], "value": []}
    for run in range(60):
        rng = np.random.default_rng([7, run])
        world = World.drawn(rng, skew=0.0)
        task = np.repeat(np.arange(6), 30)
        arm = task % 3
        columns = {"task": [f"t{i}" for i in task], "arm": [f"a{i}" for i in arm], "p": 1.0}
        reward = world.values[task, arm] + rng.normal(size=task.size)
        log = world.log(pl.DataFrame(columns | {"reward": reward}))
        evaluation = evaluate(log, {"one": "arm:a0"}, ["dm", "dr"], prior=world.prior(), folds=2)
        truth, logged = world.values[:, 0].mean(), world.values[task, arm].mean()
        one, model = evaluation["one", "dr"], evaluation["one", "dm"]
        held["value"].append(one.low <= truth <= one.high)
        held["more"].append(one.improvement_low <= truth - logged <= one.improvement_high)
        assert one.error > 0.7 * model.error  # four of six tasks are untried
        each = evaluation.by_task["one", "dr"].estimates
        tried = np.array([int(name[1:]) % 3 == 0 for name in evaluation.tasks])
        assert (each.error[~tried] > 0.1).all()
    assert np.mean(held["value"]) > 0.85
    assert np.mean(held["more"]) > 0.85


def test_doubts_about_what_two_policies_both_play_cancel():
    """Nobody tried a2, which the prior takes for the best arm."""
    rng = np.random.default_rng(4)
    world = World.drawn(rng, skew=0.0)
    frame = world.rows(rng, 600).filter(pl.col("arm") != "a2").with_columns(p=0.5)
    nearly = np.tile([0.0, 0.0, 1.0], (6, 1))
    nearly[0] = [1.0, 0.0, 0.0]
    prior = world.prior(hyper_mean=[0.0, 0.0, 5.0])
    policies = {"best arm": "best arm", "mine": table_policy(nearly)}
    evaluation = evaluate(world.log(frame), policies, ["dr"], prior=prior, folds=2)
    assert set(evaluation.best_arms) == {"a2"}
    gap = next(each for each in evaluation.differences if each.against == "best arm")
    assert evaluation["mine", "dr"].error > 0.4  # what all tasks have in common there, for one
    assert 0.05 < gap.error < 0.2
