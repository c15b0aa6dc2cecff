"""Evaluation against truth: intervals hold it as often as they say, and replay is unbiased."""

from zlib import crc32

import numpy as np
import polars as pl
import pytest
from support.logged import World, table_policy

from hierbandits import POLICIES, evaluate
from hierbandits.logs.survey import Survey

RUNS = 160
FAR = 4.5  # standard errors


def _coverage(skew, rows, level, hidden=0.0):
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
        found = evaluate(
            world.log(frame), {"mine": table_policy(table)}, prior=prior, confidence=level, folds=2
        )
        each = (table * world.values).sum(axis=1)
        names = [int(name[1:]) for name in found.tasks]
        share = found.by_task["logged", "logged"].rows / rows
        truth = {method: each.mean() for method in out} | {"dm": share @ each[names]}
        for method in out:
            one, by_task = found["mine", method], found.by_task["mine", method].found
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
    ("skew", "rows", "level"), [(0.0, 300, 0.95), (1.0, 300, 0.8), (1.0, 100, 0.95)]
)
def test_estimates_are_unbiased_and_intervals_hold_the_truth_as_often_as_they_say(
    skew, rows, level
):
    overall, tasks = _coverage(skew, rows, level)
    for method, found in overall.items():
        off, inside = found.T
        if method in ("ips", "dr"):  # SNIPS and shrinkage are biased, by little
            assert abs(off.mean()) < FAR * off.std(ddof=1) / np.sqrt(RUNS)
        assert abs(off.mean()) < 0.4 * off.std(ddof=1)
        spare = FAR * np.sqrt(level * (1 - level) / RUNS)
        assert inside.mean() > level - spare
        if method != "dm":  # folds are taken as fully correlated there, which is cautious
            assert inside.mean() < min(level + spare, 1.0 + 1e-9)
        assert tasks[method] > level - 0.05


def test_doubly_robust_survives_a_wrong_model_and_the_direct_method_does_not():
    overall, _ = _coverage(0.0, 400, 0.95, hidden=2.0)
    off, inside = overall["dr"].T
    assert abs(off.mean()) < FAR * off.std(ddof=1) / np.sqrt(RUNS)
    assert inside.mean() > 0.95 - FAR * np.sqrt(0.95 * 0.05 / RUNS)
    off, inside = overall["dm"].T
    assert off.mean() > 0.2  # arm 0 was played where rewards were high anyway
    assert inside.mean() < 0.4


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


def _replayed_by_hand(frame, log, recipe, prior, batch, seed, name):
    """Rejection sampling, a python loop over rounds; returns the accepted rows."""
    rng = np.random.default_rng([seed, crc32(name.encode())])
    survey = Survey.of(log)
    places = {task: place for place, task in enumerate(survey.tasks)}
    policy, accepted = recipe(prior, len(places)), []
    for start in range(0, frame.height, batch):
        part = frame[start : start + batch]
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


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize(
    "name", ["HierTS", "AdaptiveHierTS", "HierTS-forced", "HierUCB", "LinUCB", "TS"]
)
def test_replay_is_rejection_sampling_row_by_row_or_round_by_round(name, batch):
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
    found = evaluate(log, name, prior=world.prior(), batch=batch, seed=2)
    rows = _replayed_by_hand(frame, log, POLICIES[name], world.prior(), batch, 2, name)
    one = found[name, "replay"]
    assert one.rows == len(rows) == found.replays[name].accepted
    np.testing.assert_allclose(one.value, frame["reward"].to_numpy()[rows].mean())
    assert found.replays[name].offered == found.replays[name].kept == 200
    by_task = found.by_task[name, "replay"]
    for place, task in enumerate(found.tasks):
        mine = [row for row in rows if frame["task"][row] == task]
        assert by_task.rows[place] == len(mine)


def test_replay_keeps_rows_in_proportion_to_the_least_propensity():
    rng = np.random.default_rng(19)
    world = World.drawn(rng)
    frame = world.rows(rng, 4000)
    found = evaluate(world.log(frame), "TS", prior=world.prior(), batch=100)
    expected = (frame["p"].min() / frame["p"]).to_numpy()
    spread = np.sqrt((expected * (1 - expected)).sum())
    assert abs(found.replays["TS"].kept - expected.sum()) < 5 * spread
    # Then every choice agrees with probability `least`.
    mean, least = found.replays["TS"].accepted, frame["p"].min()
    assert abs(mean - 4000 * least) < 5 * np.sqrt(4000 * least)


def test_uniform_logs_need_no_column_and_count_the_eligible_arms():
    rng = np.random.default_rng(20)
    world = World.drawn(rng, skew=0.0)
    frame = world.rows(rng, 500, barred=0.4)
    with_column = world.log(frame, eligible="eligible")
    without = world.log(frame.drop("p"), eligible="eligible", propensity=None)
    policies = ["HierOPO", "HierTS"]
    one = evaluate(with_column, policies, prior=world.prior())
    two = evaluate(without, policies, prior=world.prior(), uniform=True)
    np.testing.assert_allclose(
        one.frame().select(pl.col(pl.Float64)).to_numpy(),
        two.frame().select(pl.col(pl.Float64)).to_numpy(),
        rtol=1e-9,
    )


def test_replay_fits_its_prior_to_rows_that_it_does_not_meet():
    rng = np.random.default_rng(21)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 500), time="when")
    found = evaluate(log, "HierTS", batch=10)
    assert found.replays["HierTS"].offered == 250
    assert any("order in the log" in warning for warning in found.warnings)  # times are shuffled
    found = evaluate(log, "HierTS", batch=10, split="folds", folds=4)
    assert 300 < found.replays["HierTS"].offered < 450
    found = evaluate(log, "HierTS", batch=10, prior=world.prior())
    assert found.replays["HierTS"].offered == 500
