"""Evaluation: every number against a computation of its own."""

import numpy as np
import polars as pl
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import NAMES, World, drawn_table, table_policy

from hierbandits import Belief, evaluate, hieropo
from hierbandits.logs import Split, Survey


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
    belief = Belief(prior, 6)
    belief.observe(
        [int(task[1:]) for task in frame["task"]],
        [int(arm[1:]) for arm in frame["arm"]],
        frame["reward"].to_numpy(),
    )
    return np.array([belief.task(s).mean for s in range(6)])


def _expected_estimates(rows, confidence):
    """value, standard error, low, high by the textbook formulas."""
    _, w, r, _, z = rows.T
    n = len(w)
    size = w.sum() ** 2 / (w**2).sum()
    reach = scipy.stats.t.ppf(0.5 + confidence / 2, size - 1)
    v = (w * r).sum() / w.sum()
    estimates = {
        "ips": ((w * r).mean(), (w * r).std(ddof=1) / np.sqrt(n)),
        "dr": (z.mean(), z.std(ddof=1) / np.sqrt(n)),
        "snips": (v, np.sqrt((w**2 * (r - v) ** 2).sum() / n / (n - 1)) / w.mean()),
    }
    improvements = {"ips": w * r - r, "dr": z - r, "snips": w * (r - v) / w.mean() - (r - r.mean())}
    out = {}
    for name, (value, error) in estimates.items():
        improvement = value - r.mean()
        error_ = improvements[name].std(ddof=1) / np.sqrt(n)
        out[name] = [value, error, value - reach * error, value + reach * error]
        out[name] += [improvement, improvement - reach * error_, improvement + reach * error_]
    return out


NUMBERS = ("value", "error", "low", "high", "improvement", "improvement_low", "improvement_high")


@pytest.mark.parametrize("barred", [0.0, 0.4])
def test_estimates_are_the_textbook_formulas_overall_and_in_every_task(barred):
    rng = np.random.default_rng(0)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 900, barred), drawn_table(rng)
    log = world.log(frame, eligible="eligible", batch_rows=128)
    evaluation = evaluate(
        log, {"mine": table_policy(table)}, prior=world.prior(), split="time", confidence=0.9
    )
    model = _model(frame[:450], world, world.prior())  # rows are in order of time
    rows = _by_hand(frame[450:], world, table, model)
    overall = _expected_estimates(rows, 0.9)
    for method in ("ips", "snips", "dr"):
        one = evaluation["mine", method]
        assert_allclose([getattr(one, n) for n in NUMBERS], overall[method], rtol=1e-9)
        assert one.rows == 450
        each = evaluation.by_task["mine", method]
        for place, name in enumerate(evaluation.tasks):
            mine = rows[rows[:, 0] == int(name[1:])]
            expected = _expected_estimates(mine, 0.9)[method]
            got = [getattr(each.estimates, n)[place] for n in NUMBERS]
            assert_allclose(got, expected, rtol=1e-8, atol=1e-12)
            assert each.rows[place] == len(mine)
            w = mine[:, 1]
            assert_allclose(each.effective_rows[place], w.sum() ** 2 / (w**2).sum())
    assert_allclose(evaluation["mine", "dm"].value, rows[:, 3].mean())
    logged = evaluation["logged", "logged"]
    r = rows[:, 2]
    assert_allclose(logged.value, r.mean())
    reach = scipy.stats.t.ppf(0.95, 449) * r.std(ddof=1) / np.sqrt(450)
    assert_allclose(logged.high - logged.value, reach)
    diagnosis = evaluation.diagnostics["mine"]
    w = rows[:, 1]
    assert_allclose(diagnosis.effective_rows, w.sum() ** 2 / (w**2).sum())
    assert_allclose(diagnosis.largest_weight, w.max())
    assert_allclose(diagnosis.mean_weight, w.mean())
    reach = scipy.stats.norm.ppf(0.95) * w.std(ddof=1) / np.sqrt(450)
    assert_allclose(diagnosis.mean_weight_high - diagnosis.mean_weight, reach)


def test_folds_cross_fit_every_row_with_a_model_that_never_saw_it():
    rng = np.random.default_rng(3)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 400), drawn_table(rng)
    log = world.log(frame)
    survey = Survey.of(log)
    split = Split.for_evaluation(survey, None, folds=4, seed=5)
    (rows,) = survey.rows()
    groups = split.groups(rows.numbers)
    assert set(groups) == {0, 1, 2, 3}
    assert (np.abs(np.bincount(groups) - 100) < 5 * np.sqrt(400 * 0.25 * 0.75)).all()
    parts = []
    for group in range(4):
        model = _model(frame.filter(pl.Series(groups != group)), world, world.prior())
        parts.append(_by_hand(frame.filter(pl.Series(groups == group)), world, table, model))
    evaluation = evaluate(log, {"mine": table_policy(table)}, prior=world.prior(), folds=4, seed=5)
    everything = np.concatenate(parts)
    assert_allclose(evaluation["mine", "dr"].value, everything[:, 4].mean(), rtol=1e-9)
    assert_allclose(evaluation["mine", "dm"].value, everything[:, 3].mean(), rtol=1e-9)
    assert evaluation["mine", "ips"].rows == 400


def test_a_trained_policy_is_not_flattered_by_rows_it_learned_from():
    """On pure noise nothing is better than anything, whatever was learned."""
    values = []
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        world = World(np.zeros((6, 3)), np.full((6, 3), 1 / 3))
        log = world.log(world.rows(rng, 120))
        evaluation = evaluate(log, "greedy", ["ips", "dr"], prior=world.prior(), folds=3)
        values.append([evaluation["greedy", "ips"].value, evaluation["greedy", "dr"].value])
    values = np.array(values)
    error = values.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(values.mean(axis=0)) < 4 * error).all()
    assert (error < 0.05).all()  # on its own rows greedy would seem to earn 0.2 and more


@pytest.mark.parametrize("kind", ["number", "date", "string"])
def test_a_column_of_times_splits_by_time_whatever_the_order_of_rows(kind):
    rng = np.random.default_rng(5)
    world = World.drawn(rng)
    frame, table = world.rows(rng, 300), drawn_table(rng)
    when = {
        "number": pl.col("when"),
        "date": pl.lit(pl.Series([0])).cast(pl.Date).first() + pl.duration(days=pl.col("when")),
        "string": pl.col("when").cast(pl.String).str.zfill(4),
    }[kind]
    log = world.log(frame.with_columns(when=when), time="when", batch_rows=70)
    evaluation = evaluate(log, {"mine": table_policy(table)}, prior=world.prior())
    late = frame["when"] >= 150
    model = _model(frame.filter(~late), world, world.prior())
    rows = _by_hand(frame.filter(late), world, table, model)
    assert_allclose(evaluation["mine", "dr"].value, rows[:, 4].mean(), rtol=1e-9)
    assert evaluation["mine", "dr"].rows == 150
    assert evaluation.settings["split"] == "time"


def test_nothing_is_held_out_if_nothing_is_trained():
    rng = np.random.default_rng(6)
    world = World.drawn(rng)
    frame = world.rows(rng, 200)
    evaluation = evaluate(world.log(frame, time="when"), ["uniform", "arm:a1"], ["ips", "snips"])
    assert evaluation["uniform", "ips"].rows == 200
    expected = (frame["reward"] / 3 / frame["p"]).mean()
    assert_allclose(evaluation["uniform", "ips"].value, expected)
    played = frame.filter(pl.col("arm") == "a1")
    assert_allclose(
        evaluation["arm:a1", "snips"].value,
        (played["reward"] / played["p"]).sum() / (1 / played["p"]).sum(),
    )


def test_batches_of_the_log_do_not_matter():
    rng = np.random.default_rng(7)
    world = World.drawn(rng)
    frame = world.rows(rng, 500, barred=0.3)
    policies = ["HierOPO", "frozen:HierTS", "frozen:PooledTS", "uniform", "HierTS", "HierUCB"]
    evaluations = []
    for batch_rows in (500, 33):
        log = world.log(frame, eligible="eligible", population="group", batch_rows=batch_rows)
        evaluations.append(evaluate(log, policies, round_size=7, seed=3, draws=200))
    whole, pieces = (one.task_frame().drop("task", "policy", "method") for one in evaluations)
    assert_allclose(whole.to_numpy(), pieces.to_numpy(), rtol=1e-7, atol=1e-9)
    assert [e.policy for e in evaluations[0].estimates].count("HierTS") == 1


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


def test_a_frame_with_its_columns_named_is_as_good_as_a_log():
    rng = np.random.default_rng(22)
    world = World.drawn(rng)
    frame = world.rows(rng, 200, barred=0.3)
    named = NAMES | {"eligible": "eligible", "time": "when", "population": "group"}
    policies, prior = ["HierOPO", "HierTS"], world.prior(hyper_mean=[0.0, 0.1, 0.2])
    one = evaluate(frame, policies, **named, arms=world.arms, prior=prior)
    log = world.log(frame, eligible="eligible", time="when", population="group")
    two = evaluate(log, policies, prior=prior)
    assert one.frame().equals(two.frame())
    assert one.task_frame().equals(two.task_frame())
    assert one.settings == two.settings


def test_hieropo_is_at_hand_as_learned_from_all_rows():
    rng = np.random.default_rng(23)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 300), population="group")
    learned = evaluate(log, ["HierOPO", "uniform"], ["ips"], delta=0.1).hieropo
    alone = hieropo(log, delta=0.1)
    assert_allclose(learned.mean, alone.mean, rtol=1e-9)
    assert_allclose(learned.regret, alone.regret, rtol=1e-9)
    assert_allclose(learned.plays, alone.plays)
    assert evaluate(log, ["greedy"], ["ips"]).hieropo is None
