"""Evaluation on logs: every number against a computation of its own."""

import numpy as np
import polars as pl
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import World, drawn_case, table_policy
from support.oracle import dense_posterior, full

from hierbandits import Belief, evaluate
from hierbandits.evaluation.estimators import ESTIMATORS, effective_size
from hierbandits.evaluation.moments import Moments
from hierbandits.logs.split import Split
from hierbandits.logs.survey import Survey

T = 6


def _table(rng, tasks=T, arms=3):
    return rng.dirichlet(np.ones(arms), tasks) * rng.integers(0, 2, (tasks, 1)) + 0.05


def _by_hand(frame, world, table, model):
    """Per-row task, weight, reward, expected reward and model error, with python loops."""
    rows = []
    for task, arm, reward, p, eligible in frame.select(
        "task", "arm", "reward", "p", "eligible"
    ).iter_rows():
        s, a = int(task[1:]), int(arm[1:])
        open_ = [int(name[1:]) for name in eligible]
        total = sum(table[s, b] for b in open_)
        weight = table[s, a] / total / p
        expected = sum(table[s, b] / total * model[s, b] for b in open_)
        rows.append((s, weight, reward, expected, expected + weight * (reward - model[s, a])))
    return np.array(rows)


def _model(frame, world, prior):
    """The posterior mean rewards after these rows, event by event."""
    belief = Belief(prior, T)
    belief.observe(
        [int(task[1:]) for task in frame["task"]],
        [int(arm[1:]) for arm in frame["arm"]],
        frame["reward"].to_numpy(),
    )
    return np.array([belief.task(s).mean for s in range(T)])


def _expected_estimates(rows, level):
    """value, standard error, low, high by the textbook formulas."""
    _, w, r, _, z = rows.T
    n = len(w)
    size = w.sum() ** 2 / (w**2).sum()
    reach = scipy.stats.t.ppf(0.5 + level / 2, size - 1)
    v = (w * r).sum() / w.sum()
    found = {
        "ips": ((w * r).mean(), (w * r).std(ddof=1) / np.sqrt(n)),
        "dr": (z.mean(), z.std(ddof=1) / np.sqrt(n)),
        "snips": (v, np.sqrt((w**2 * (r - v) ** 2).sum() / n / (n - 1)) / w.mean()),
    }
    gains = {"ips": w * r - r, "dr": z - r, "snips": w * (r - v) / w.mean() - (r - r.mean())}
    out = {}
    for name, (value, error) in found.items():
        gain, gain_error = value - r.mean(), gains[name].std(ddof=1) / np.sqrt(n)
        out[name] = [value, error, value - reach * error, value + reach * error]
        out[name] += [gain, gain - reach * gain_error, gain + reach * gain_error]
    return out


NUMBERS = ("value", "error", "low", "high", "gain", "gain_low", "gain_high")


@pytest.mark.parametrize("barred", [0.0, 0.4])
def test_estimates_are_the_textbook_formulas_overall_and_in_every_task(barred):
    rng = np.random.default_rng(0)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 900, barred), _table(rng)
    log = world.log(frame, eligible="eligible", batch_rows=128)
    found = evaluate(
        log, {"mine": table_policy(table)}, prior=world.prior(), split="time", confidence=0.9
    )
    model = _model(frame[:450], world, world.prior())  # rows are in order of time
    rows = _by_hand(frame[450:], world, table, model)
    overall = _expected_estimates(rows, 0.9)
    for method in ("ips", "snips", "dr"):
        one = found["mine", method]
        assert_allclose([getattr(one, n) for n in NUMBERS], overall[method], rtol=1e-9)
        assert one.rows == 450
        each = found.by_task["mine", method]
        for place, name in enumerate(found.tasks):
            mine = rows[rows[:, 0] == int(name[1:])]
            expected = _expected_estimates(mine, 0.9)[method]
            got = [getattr(each.found, n)[place] for n in NUMBERS]
            assert_allclose(got, expected, rtol=1e-8, atol=1e-12)
            assert each.rows[place] == len(mine)
            w = mine[:, 1]
            assert_allclose(each.effective_rows[place], w.sum() ** 2 / (w**2).sum())
    assert_allclose(found["mine", "dm"].value, rows[:, 3].mean())
    logged = found["logged", "logged"]
    r = rows[:, 2]
    assert_allclose(logged.value, r.mean())
    reach = scipy.stats.t.ppf(0.95, 449) * r.std(ddof=1) / np.sqrt(450)
    assert_allclose(logged.high - logged.value, reach)
    diagnosis = found.diagnostics["mine"]
    w = rows[:, 1]
    assert_allclose(diagnosis.effective_rows, w.sum() ** 2 / (w**2).sum())
    assert_allclose(diagnosis.largest_weight, w.max())
    assert_allclose(diagnosis.mean_weight, w.mean())
    reach = scipy.stats.norm.ppf(0.95) * w.std(ddof=1) / np.sqrt(450)
    assert_allclose(diagnosis.mean_weight_high - diagnosis.mean_weight, reach)


def test_moments_keep_their_digits_far_from_zero_and_in_any_batches():
    rng = np.random.default_rng(1)
    values = 1e9 + rng.normal(size=(400, 2)) @ np.array([[1.0, 0.4], [0.0, 2.0]])
    tasks = rng.integers(0, 3, 400)
    moments = Moments.zeros(4, 2)
    for start in range(0, 400, 30):
        moments.add(tasks[start : start + 30], values[start : start + 30])
    for task in range(3):
        mine = values[tasks == task]
        cov = np.cov(mine.T)
        assert_allclose(moments.comoment[task] / (len(mine) - 1), cov, rtol=1e-5)
        error = np.sqrt(np.array([2.0, -1.0]) @ cov @ np.array([2.0, -1.0]) / len(mine))
        assert_allclose(moments.error(2.0, -1.0)[task], error, rtol=1e-5)
    assert np.isnan(moments.error(1.0, 0.0)[3])  # no rows
    pooled = moments.pooled()
    assert_allclose(pooled.comoment[0] / 399, np.cov(values.T), rtol=1e-5)
    assert pooled.n[0] == 400


@pytest.mark.parametrize("linear", [False, True])
def test_the_direct_method_has_the_error_of_the_dense_joint_posterior(linear):
    rng = np.random.default_rng(2)
    world, frame, features, prior = drawn_case(rng, linear)
    table = _table(rng, arms=4)
    log = world.log(frame, population="group")  # tasks 0 to 3 and 4 to 5
    found = evaluate(
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
    for place, name in enumerate(found.tasks):
        s = int(name[1:])
        own = np.zeros(8 * d)
        own[s * d : (s + 1) * d] = shares[s] @ x
        weights += own * (late["task"] == name).sum() / 150
        each = found.by_task["mine", "dm"].found
        assert_allclose(each.value[place], own @ joint.mean, rtol=1e-8)
        assert_allclose(each.error[place], np.sqrt(own @ joint.cov @ own), rtol=1e-8)
    one = found["mine", "dm"]
    error = np.sqrt(weights @ joint.cov @ weights)
    assert_allclose([one.value, one.error], [weights @ joint.mean, error], rtol=1e-8)
    assert_allclose([one.low, one.high], one.value + reach * error * np.array([-1, 1]), rtol=1e-8)


def test_folds_cross_fit_every_row_with_a_model_that_never_saw_it():
    rng = np.random.default_rng(3)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 400), _table(rng)
    log = world.log(frame)
    survey = Survey.of(log)
    split = Split.of(survey, None, folds=4, seed=5)
    (rows,) = survey.rows()
    groups = split.groups(rows)
    assert set(groups) == {0, 1, 2, 3}
    assert (np.abs(np.bincount(groups) - 100) < 5 * np.sqrt(400 * 0.25 * 0.75)).all()
    parts = []
    for group in range(4):
        model = _model(frame.filter(pl.Series(groups != group)), world, world.prior())
        parts.append(_by_hand(frame.filter(pl.Series(groups == group)), world, table, model))
    found = evaluate(log, {"mine": table_policy(table)}, prior=world.prior(), folds=4, seed=5)
    everything = np.concatenate(parts)
    assert_allclose(found["mine", "dr"].value, everything[:, 4].mean(), rtol=1e-9)
    assert_allclose(found["mine", "dm"].value, everything[:, 3].mean(), rtol=1e-9)
    assert found["mine", "ips"].rows == 400


def test_a_trained_policy_is_not_flattered_by_rows_it_learned_from():
    """On pure noise nothing is better than anything, whatever was learned."""
    gains = []
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        world = World(np.zeros((T, 3)), np.full((T, 3), 1 / 3))
        log = world.log(world.rows(rng, 120))
        found = evaluate(log, "greedy", ["ips", "dr"], prior=world.prior(), folds=3)
        gains.append([found["greedy", "ips"].value, found["greedy", "dr"].value])
    gains = np.array(gains)
    error = gains.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(gains.mean(axis=0)) < 4 * error).all()
    assert (error < 0.05).all()  # on its own rows greedy would seem to earn 0.2 and more


@pytest.mark.parametrize("kind", ["number", "date", "string"])
def test_a_column_of_times_splits_by_time_whatever_the_order_of_rows(kind):
    rng = np.random.default_rng(5)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 300), _table(rng)
    when = {
        "number": pl.col("when"),
        "date": pl.lit(pl.Series([0])).cast(pl.Date).first() + pl.duration(days=pl.col("when")),
        "string": pl.col("when").cast(pl.String).str.zfill(4),
    }[kind]
    log = world.log(frame.with_columns(when=when), time="when", batch_rows=70)
    found = evaluate(log, {"mine": table_policy(table)}, prior=world.prior())
    late = frame["when"] >= 150
    model = _model(frame.filter(~late), world, world.prior())
    rows = _by_hand(frame.filter(late), world, table, model)
    assert_allclose(found["mine", "dr"].value, rows[:, 4].mean(), rtol=1e-9)
    assert found["mine", "dr"].rows == 150
    assert found.settings["split"] == "time"


def test_nothing_is_held_out_if_nothing_is_trained():
    rng = np.random.default_rng(6)
    world = World.drawn(rng)
    frame = world.rows(rng, 200)
    found = evaluate(world.log(frame, time="when"), ["uniform", "arm:a1"], ["ips", "snips"])
    assert found["uniform", "ips"].rows == 200
    expected = (frame["reward"] / 3 / frame["p"]).mean()
    assert_allclose(found["uniform", "ips"].value, expected)
    played = frame.filter(pl.col("arm") == "a1")
    assert_allclose(
        found["arm:a1", "snips"].value,
        (played["reward"] / played["p"]).sum() / (1 / played["p"]).sum(),
    )


def test_batches_of_the_log_do_not_matter():
    rng = np.random.default_rng(7)
    world = World.drawn(rng)
    frame = world.rows(rng, 500, barred=0.3)
    policies = ["HierOPO", "frozen:HierTS", "frozen:PooledTS", "uniform", "HierTS", "HierUCB"]
    found = []
    for batch_rows in (500, 33):
        log = world.log(frame, eligible="eligible", population="group", batch_rows=batch_rows)
        found.append(evaluate(log, policies, batch=7, seed=3, draws=200))
    whole, pieces = (one.task_frame().drop("task", "policy", "method") for one in found)
    assert_allclose(whole.to_numpy(), pieces.to_numpy(), rtol=1e-7, atol=1e-9)
    assert [e.policy for e in found[0].estimates].count("HierTS") == 1


def test_effective_size_of_equal_weights_is_their_number():
    moments = Moments.zeros(2, 4)
    moments.add(np.zeros(50, int), np.full((50, 4), 2.0))
    assert_allclose(effective_size(moments), [50.0, 0.0])


@pytest.mark.parametrize(("second", "known"), [(0.1, False), (0.9, False), (1.0, True)])
def test_no_interval_below_two_effective_rows(second, known):
    """Two rows of weights 1 and b are (1 + b)^2 / (1 + b^2) rows."""
    moments = Moments.zeros(1, 4)
    weights, rewards = np.array([1.0, second]), np.array([3.0, 5.0])
    robust = 1.0 + weights * (rewards - 1.0)
    values = np.stack([weights, weights * rewards, robust, rewards], axis=1)
    moments.add(np.zeros(2, int), values)
    for estimator in ESTIMATORS.values():
        found = estimator(moments, 0.95)
        assert np.isfinite(found.value[0])
        assert np.isfinite(found.low[0]) == known


def test_the_summary_prints_and_looks_up():
    rng = np.random.default_rng(13)
    world = World.drawn(rng)
    found = evaluate(world.log(world.rows(rng, 200)), ["uniform", "HierTS"], prior=world.prior())
    text = str(found)
    for word in ("logged", "SNIPS", "replay", "never logged", "accepted"):
        assert word in text
    with pytest.raises(KeyError, match="no estimate of"):
        found["uniform", "replay"]
    frame = found.frame()
    assert frame.height == 6
    assert found.task_frame().height == 6 * T
