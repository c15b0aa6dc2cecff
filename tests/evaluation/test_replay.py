"""Replay: what a learning policy would have earned."""

from zlib import crc32

import numpy as np
import polars as pl
import pytest
from support.logged import World

from hierbandits import POLICIES, evaluate
from hierbandits.logs import Survey

FAR = 4.5  # standard errors


def _online(world, prior, recipe, rng, count):
    """The mean reward of a policy that lives through `count` events."""
    policy, total = recipe(prior, 6), 0.0
    for _ in range(count):
        task = rng.integers(0, 6, 1)
        arm = policy.act(rng, task)
        reward = world.values[task, arm] + world.noise * rng.normal(size=1)
        policy.learn(task, arm, reward)
        total += reward[0]
    return total / count


@pytest.mark.parametrize("skew", [0.0, 1.0])
def test_replay_earns_what_the_policy_would_have_earned(skew):
    gaps, learned, claims = [], [], []
    for run in range(80):
        rng = np.random.default_rng([17, int(skew), run])
        world = World.drawn(rng, skew=skew)
        prior = world.prior()
        log = world.log(world.rows(rng, 400 if skew == 0 else 900))
        one = evaluate(log, "HierTS", prior=prior, seed=run)["HierTS", "replay"]
        gaps.append(one.value - _online(world, prior, POLICIES["HierTS"], rng, one.rows))
        learned.append(one.value - world.values.mean())
        claims.append(one.error)
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < FAR * error
    assert np.mean(learned) > 0.25  # it does learn, so that agreement says something
    # The gap has the noise of both: the claimed error of each is about right.
    assert 0.7 < np.std(gaps, ddof=1) / np.sqrt(2 * np.mean(np.square(claims))) < 1.5


def _replayed_by_hand(frame, log, recipe, prior, round_size, seed, name):
    """Rejection sampling, a python loop over rounds; returns the accepted rows."""
    rng = np.random.default_rng([seed, crc32(name.encode())])
    survey = Survey.of(log)
    places = {task: place for place, task in enumerate(survey.tasks)}
    policy, accepted = recipe(prior, len(places)), []
    for start in range(0, frame.height, round_size):
        part = frame[start : start + round_size]
        tasks = [places[task] for task in part["task"]]
        masks = np.array([[f"a{i}" in row for i in range(3)] for row in part["eligible"]])
        choices = policy.act(rng, tasks, None, masks)
        played = np.array([int(arm[1:]) for arm in part["arm"]])
        agree = np.flatnonzero(choices == played)
        if agree.size:
            rewards = part["reward"].to_numpy()[agree]
            policy.learn(np.array(tasks)[agree], played[agree], rewards)
        accepted += (start + agree).tolist()
    return accepted


@pytest.mark.parametrize("round_size", [1, 7])
@pytest.mark.parametrize(
    "name", ["HierTS", "AdaptiveHierTS", "HierTS-forced", "HierUCB", "LinUCB", "TS"]
)
def test_replay_is_rejection_sampling_row_by_row_or_round_by_round(name, round_size):
    rng = np.random.default_rng(18)
    world = World.drawn(rng)
    frame = world.rows(rng, 200, barred=0.3).drop("p")
    # Whoever draws uniformly from sets of different sizes has different propensities: those of
    # small sets are kept less often.  Here all sets keep two arms, so that all rows are kept.
    sets = [["a0", "a1"], ["a1", "a2"], ["a0", "a2"]]
    chosen = rng.integers(0, 3, 200)
    arms = [sets[i][j] for i, j in zip(chosen, rng.integers(0, 2, 200), strict=True)]
    frame = frame.with_columns(
        eligible=pl.Series([sets[i] for i in chosen]), arm=pl.Series(arms), p=pl.lit(0.5)
    )
    log = world.log(frame, eligible="eligible", batch_rows=60)
    evaluation = evaluate(log, name, prior=world.prior(), round_size=round_size, seed=2)
    rows = _replayed_by_hand(frame, log, POLICIES[name], world.prior(), round_size, 2, name)
    one = evaluation[name, "replay"]
    assert one.rows == len(rows) == evaluation.replays[name].accepted
    np.testing.assert_allclose(one.value, frame["reward"].to_numpy()[rows].mean())
    assert evaluation.replays[name].offered == evaluation.replays[name].kept == 200
    by_task = evaluation.by_task[name, "replay"]
    for place, task in enumerate(evaluation.tasks):
        mine = [row for row in rows if frame["task"][row] == task]
        assert by_task.rows[place] == len(mine)


def test_replay_keeps_rows_in_proportion_to_the_least_propensity():
    rng = np.random.default_rng(19)
    world = World.drawn(rng)
    frame = world.rows(rng, 4000)
    evaluation = evaluate(world.log(frame), "TS", prior=world.prior(), round_size=100)
    expected = (frame["p"].min() / frame["p"]).to_numpy()
    std = np.sqrt((expected * (1 - expected)).sum())
    assert abs(evaluation.replays["TS"].kept - expected.sum()) < 5 * std
    # Then every choice agrees with probability `least`.
    mean, least = evaluation.replays["TS"].accepted, frame["p"].min()
    assert abs(mean - 4000 * least) < 5 * np.sqrt(4000 * least)


def test_replay_fits_its_prior_to_rows_that_it_does_not_meet():
    rng = np.random.default_rng(21)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 500), time="when")
    evaluation = evaluate(log, "HierTS", round_size=10)
    assert evaluation.replays["HierTS"].offered == 250
    assert any(
        "order in the log" in warning for warning in evaluation.warnings
    )  # times are shuffled
    evaluation = evaluate(log, "HierTS", round_size=10, split="folds", folds=4)
    assert 300 < evaluation.replays["HierTS"].offered < 450
    evaluation = evaluate(log, "HierTS", round_size=10, prior=world.prior())
    assert evaluation.replays["HierTS"].offered == 500
