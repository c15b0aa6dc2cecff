"""From a log to a prior: what is learned, and what is refused."""

import json

import numpy as np
import polars as pl
import pytest
from support.learn_logs import FORMS, drawn, learned, sums_of

import hierbandits as hb
from hierbandits import Belief, TaskSums
from hierbandits.fitting import fit_prior
from hierbandits.logs import Log, Split


@pytest.mark.parametrize("armed", [True, False])
def test_one_population_gives_the_hyper_posterior(armed):
    rows, prior, report = learned(armed)
    fit = fit_prior(sums_of(rows), population=rows.population, structure=report.structure.best)
    hyper = Belief.from_sums(fit.prior, sums_of(rows)).hyper()
    cov = np.diagonal(hyper.cov) if armed else hyper.cov
    np.testing.assert_allclose(prior.hyper_mean, hyper.mean, rtol=1e-9)
    np.testing.assert_allclose(prior.hyper_cov, cov, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(prior.task_cov, fit.prior.task_cov, rtol=1e-7)
    assert prior.noise_std == pytest.approx(fit.prior.noise_std)
    assert report.prior is prior
    assert prior.arms == report.before_log.arms == report.arms
    assert prior.learned_from.same_log(sums_of(rows).totals())
    assert report.before_log.learned_from is None
    assert (report.num_rows, report.num_tasks) == (rows.task.size, 30)


@pytest.mark.parametrize("armed", [True, False])
def test_several_populations_give_the_learned_hyper_prior(armed):
    rows, prior, report = learned(armed, 3)
    fit = fit_prior(sums_of(rows), population=rows.population, structure=report.structure.best)
    np.testing.assert_allclose(prior.hyper_mean, fit.prior.hyper_mean, rtol=1e-6)
    np.testing.assert_allclose(prior.hyper_cov, fit.prior.hyper_cov, rtol=1e-6)
    np.testing.assert_allclose(report.similarity.hyper_std, fit.hyper_widths.std, rtol=1e-6)
    assert (report.similarity.hyper_low <= report.similarity.hyper_std).all()
    assert (report.similarity.hyper_high >= report.similarity.hyper_std).all()


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_the_fit_is_that_of_the_rows_whatever_the_order_of_tasks(armed, populations):
    rows = drawn(6, armed=armed, populations=populations, tasks=20)
    sums = sums_of(rows)
    fit = fit_prior(sums, population=rows.population)
    log = rows.joint(fit.prior).log_evidence
    np.testing.assert_allclose(fit.log_evidence, log, rtol=1e-7)
    turned = np.random.default_rng(0).permutation(len(rows.theta))
    other = TaskSums(sums.xx[turned], sums.xy[turned], sums.yy[turned], sums.n[turned])
    again = fit_prior(other, population=rows.population[turned])
    np.testing.assert_allclose(again.task_widths.std, fit.task_widths.std, rtol=1e-3)


def test_an_agent_that_starts_from_the_prior_knows_what_tasks_have_in_common():
    _, prior, report = learned(True)
    agent = hb.Agent(prior, arms=report.arms, seed=0)
    best = int(prior.hyper_mean.argmax())
    chosen = [agent.decide(f"new-{i}") for i in range(200)]
    share = np.mean([decision.arm == report.arms[best] for decision in chosen])
    draws = np.random.default_rng(0).standard_normal((100_000, 3))
    std = np.sqrt(prior.hyper_cov + prior.task_cov)
    expected = ((prior.hyper_mean + draws * std).argmax(1) == best).mean()
    assert abs(share - expected) < 5 * np.sqrt(0.25 / 200)
    for decision in chosen:
        agent.reward(decision.id, 1.0)
    linear = hb.Agent(learned(False)[1], seed=0)
    assert linear.decide("new", {"one": [1.0, 0, 0], "two": [0, 1.0, 0]}).arm in ("one", "two")


def test_the_same_seed_gives_the_same_report_whatever_the_batches():
    rows = drawn(31, armed=False, tasks=10, events=20)
    reports = [
        hb.learn_prior(rows.log(batch_rows=size), runs=4, seed=seed)[1].to_dict()
        for size, seed in ((13, 1), (1000, 1), (13, 2))
    ]
    for name in ("comparison", "calibration", "promises"):
        _assert_same(reports[0][name], reports[1][name])
    assert reports[0]["calibration"]["rows"] != reports[2]["calibration"]["rows"]


def _assert_same(one, other):
    """To rounding: sums over other batches are the same but for their last digits."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            _assert_same(one[name], other[name])
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            _assert_same(a, b)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9)
    else:
        assert one == other


def test_given_noise_and_structure_are_used():
    rows = drawn(32, armed=False, tasks=20, events=20)
    prior, report = hb.learn_prior(
        rows.frame(), **rows.arguments, structure="full", noise_std=0.7, held_out=0, runs=0
    )
    assert prior.noise_std == pytest.approx(0.7)
    assert np.abs(prior.task_cov - np.diag(np.diagonal(prior.task_cov))).max() > 1e-4
    assert report.settings["structure"] == "full"
    data = report.to_dict()
    assert data["similarity"]["noise_low"] is None
    assert data["calibration"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": None}, "task and reward must name columns, got None and 'revenue'"),
        ({"arm": None, "arms": None}, "one of arm and features must be given"),
        ({"task": "nope"}, "columns must be in the log, got 'nope'"),
        ({"arms": ["a0"]}, r"arm must be one of 'a0', got 'a\d' in column 'promo' at row"),
        ({"held_out": 1.0}, r"held_out must be a share of the rows in \[0, 1\), got 1.0"),
        ({"held_out": -0.1}, "held_out must be a share"),
        ({"held_out": float("nan")}, "held_out must be a share"),
        ({"held_out": 1e-9}, "held_out must leave rows on both sides, got 1e-09, which"),
        ({"runs": -1}, "runs must be a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"structure": "round"}, "structure must be one of"),
        ({"structure": "low-rank", "rank": 3}, "rank must be below the 3 features, got 3"),
        ({"noise_std": 0.0}, "noise_std must be positive"),
        ({"noise_std": -1.0}, "noise_std must be positive"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(change, message):
    rows = drawn(33, armed=True)
    with pytest.raises(ValueError, match=message):
        hb.learn_prior(rows.frame(), **(rows.arguments | {"runs": 0} | change))


def test_a_log_names_its_own_columns():
    rows = drawn(33, armed=True)
    with pytest.raises(ValueError, match="reward must not be given with a Log, got 'revenue'"):
        hb.learn_prior(rows.log(), reward="revenue")


@pytest.mark.parametrize("armed", [True, False])
def test_an_offset_that_sums_of_squares_cannot_bear_is_refused(armed):
    rows = drawn(31, armed=armed, tasks=60, events=40)
    if not armed:
        rows.features[:, 0] = 1.0  # takes the offset up
    frame = rows.frame()
    plain = hb.learn_prior(frame, **rows.arguments, held_out=0, runs=0)[1].similarity
    std = frame["revenue"].std(ddof=0)
    for times, right in ((3e3, True), (1.1e4, False), (1e8, False)):
        lifted = frame.with_columns(pl.col("revenue") + times * std)
        if right:
            lifted_up = hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)[1].similarity
            np.testing.assert_allclose(lifted_up.task_std, plain.task_std, rtol=1e-2)
            continue
        with pytest.raises(ValueError, match="subtract a constant from all rewards first"):
            hb.learn_prior(lifted, **rows.arguments, held_out=0, runs=0)


def test_logs_that_teach_nothing_are_refused():
    frame = drawn(33, armed=True).frame()
    named = {"task": "store", "arm": "promo", "reward": "revenue"}
    with pytest.raises(ValueError, match="task must have at least two values in the log, got 1"):
        hb.learn_prior(frame.with_columns(store=pl.lit("one")), **named)
    with pytest.raises(
        ValueError, match=r"arm must have at least two values in the log, got \['x'\]"
    ):
        hb.learn_prior(frame.with_columns(promo=pl.lit("x")), **named)
    with pytest.raises(ValueError, match="reward must differ between rows, got 2 in all of them"):
        hb.learn_prior(frame.with_columns(revenue=pl.lit(2.0)), **named)


@pytest.mark.parametrize("armed", [True, False])
def test_rewards_that_never_vary_within_a_task_are_refused_unless_the_noise_is_given(armed):
    """What the sums hold of their noise is rounding, and so would be every width beside it."""
    rows = drawn(36, armed=armed, tasks=12, events=20, noise=0.0)
    asked = {"held_out": 0, "runs": 0, "structure": "diagonal", "progress": False}
    with pytest.raises(ValueError, match=r"reward must vary within the tasks by at least 1e-05"):
        hb.learn_prior(rows.frame(), **rows.arguments, **asked)
    hb.learn_prior(rows.frame(), **rows.arguments, **asked, noise_std=0.01)
    little = drawn(36, armed=armed, tasks=12, events=20, noise=1e-3)
    _, report = hb.learn_prior(little.frame(), **little.arguments, **asked)
    assert report.similarity.noise_std == pytest.approx(1e-3, rel=0.2)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("tasks", [2, 6])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_smallest_logs_and_those_without_noise_get_a_report(armed, tasks, noise):
    rows = drawn(36, armed=armed, tasks=tasks, events=2, noise=noise)
    prior, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0.5, seed=1, runs=2)
    assert prior.noise_std > 0
    assert np.isfinite(list(report.calibration.log_score.values())).all()
    json.dumps(report.to_dict(), allow_nan=False)
    assert all(report.verdict)


def test_two_rows_are_a_log():
    frame = pl.DataFrame({"store": [1, 2], "promo": ["a", "b"], "revenue": [0.0, 1.0]})
    for seed in range(20):
        if Split.held_out(0.5, seed).groups(np.arange(2)).sum() == 1:
            named = {"task": "store", "arm": "promo", "reward": "revenue"}
            _, report = hb.learn_prior(frame, **named, held_out=0.5, seed=seed, runs=2)
            assert (report.calibration.rows, report.calibration.training_rows) == (1, 1)
            return
    raise AssertionError("no seed splits two rows")


@pytest.mark.parametrize("held_out", [0.2, 0.0])
def test_a_log_is_read_twice(held_out, monkeypatch):
    made, batches = [], Log.batches

    def counted(log):
        made.append(1)
        return batches(log)

    monkeypatch.setattr(Log, "batches", counted)
    hb.learn_prior(drawn(33, armed=True).log(), held_out=held_out, runs=0)
    assert len(made) == 2
