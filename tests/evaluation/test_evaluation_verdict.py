"""The verdict: each of its sentences against what was simulated."""

import numpy as np
import polars as pl
import pytest
from support.logged import World, table_policy

from hierbandits import evaluate

RUNS = 20
EVEN = np.full((6, 3), 1 / 3)
ONE_BEST = np.tile([0.0, 0.6, 0.2], (6, 1))  # the same arm in every task
DIFFERENT = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]] * 2)  # an arm of its own in each
EQUAL = np.zeros((6, 3))


def _only(arms):
    """A policy's table: one arm in each task."""
    return np.eye(3)[arms]


def _verdicts(values, tables, odds=EVEN, rows=400, runs=RUNS, **more):
    """Verdicts on policies of these tables, with the truth of each."""
    world = World(np.asarray(values), odds)
    truth = {name: (table * values).sum(axis=1).mean() for name, table in tables.items()}
    log_value = (odds * values).sum(axis=1).mean()
    for run in range(runs):
        log = world.log(world.rows(np.random.default_rng([9, run]), rows))
        policies = {"best arm": "best arm"} | {n: table_policy(t) for n, t in tables.items()}
        evaluation = evaluate(log, policies, ["dr"], prior=world.prior(), folds=2, **more)
        arms = [int(arm[1:]) for arm in evaluation.best_arms]
        truth["best arm"] = np.mean([values[:, arm].mean() for arm in arms])
        yield evaluation.verdict, truth, log_value


def _share(flags):
    return np.mean(list(flags))


def test_it_says_that_a_policy_earns_more_where_one_does():
    table = {"mine": _only([0, 1, 2] * 2)}
    for verdict, truth, log_value in _verdicts(DIFFERENT, table):
        assert truth["mine"] - log_value == pytest.approx(2 / 3)
        assert (verdict.policy, verdict.more_than_log, verdict.more_than_arm) == (
            "mine",
            True,
            True,
        )
        assert verdict.sentence.startswith("mine would earn 0.")
        assert " more per decision than the log did (95 % interval 0." in verdict.sentence
        assert ", and 0." in verdict.sentence


def test_it_does_not_say_so_where_none_does():
    """All arms are equal: of ten policies the best looks good by luck alone."""
    rng = np.random.default_rng(2)
    policies = {f"p{i}": table_policy(_only(rng.integers(0, 3, 6))) for i in range(10)}
    world, claims = World(EQUAL, EVEN), []
    for run in range(100):
        log = world.log(world.rows(np.random.default_rng([9, run]), 300))
        verdict = evaluate(log, policies, ["snips"]).verdict
        claims.append(verdict.more_than_log is not None)
        untold = verdict.sentence.startswith("Whether any of these policies earns more")
        assert untold != claims[-1]
    assert _share(claims) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 100)


def test_it_says_that_none_is_as_good_as_a_log_that_plays_the_best_arm():
    odds = np.tile([0.1, 0.8, 0.1], (6, 1))
    told = []
    bad = {"bad": _only([0] * 6), "worse": 0.5 * _only([0] * 6) + 0.5 * _only([2] * 6)}
    world = World(ONE_BEST, odds)
    for run in range(RUNS):
        log = world.log(world.rows(np.random.default_rng([9, run]), 600))
        verdict = evaluate(log, {n: table_policy(t) for n, t in bad.items()}, ["snips"]).verdict
        told.append(verdict.sentence.startswith("None of these policies earns as much as the log"))
        assert (verdict.more_than_log is False) == told[-1]
    assert _share(told) > 0.8
    for verdict, *_ in _verdicts(ONE_BEST, bad, runs=5):  # the best arm beats an even log
        assert not verdict.sentence.startswith("None")
        assert verdict.more_than_log


def test_a_policy_that_is_no_better_than_the_best_arm_is_not_called_better():
    mixed = {"mixed": 0.9 * _only([1] * 6) + 0.1 * EVEN, "arm": _only([1] * 6)}
    named, claims = [], []
    for verdict, truth, log_value in _verdicts(ONE_BEST, mixed, rows=800):
        assert verdict.more_than_log
        assert truth["best arm"] > log_value
        named.append("always playing 'a1'" in verdict.sentence.lower())
        claims.append(bool(verdict.more_than_arm))
    assert _share(named) > 0.9
    assert _share(claims) <= 2 / RUNS


@pytest.mark.parametrize("world_values", [ONE_BEST, DIFFERENT])
def test_whether_the_next_best_loses_to_the_best_arm_is_true(world_values):
    """Where tasks are alike a policy of its own arms loses, and where they differ it wins."""
    told = []
    tables = {"own": _only([0, 1, 2] * 2)}
    for verdict, truth, _ in _verdicts(world_values, tables, rows=900):
        if verdict.more_than_arm is not None:
            told.append(verdict.more_than_arm == (truth["own"] > truth["best arm"]))
    assert len(told) > 0.8 * RUNS
    assert all(told)


def test_a_policy_that_plays_the_best_arm_is_said_to_play_the_same():
    """It would look as if nobody could tell; a policy that plays another arm in one task can."""
    same, other = _only([1] * 6), _only([1, 1, 1, 1, 1, 2])
    for table, said in ((same, True), (other, False)):
        (verdict, truth, _), *_ = _verdicts(ONE_BEST, {"mine": table}, rows=900, runs=1)
        assert verdict.policy == "best arm"
        assert ("mine, the next best, plays the same arms" in verdict.sentence) == said
        assert (truth["mine"] == truth["best arm"]) == said
        assert verdict.more_than_arm is not True


def test_arms_that_differ_between_folds_are_all_named():
    sentences = [verdict.sentence for verdict, *_ in _verdicts(EQUAL, {}, rows=100, runs=20)]
    assert any("always playing 'a" in sentence for sentence in sentences)
    assert any("the best single arm (of 2 folds, 'a" in sentence for sentence in sentences)


def test_an_arm_that_rows_bar_is_played_where_it_is_eligible():
    world = World(ONE_BEST, EVEN)
    frame = world.rows(np.random.default_rng(4), 600, barred=0.3)
    log = world.log(frame, eligible="eligible")
    verdict = evaluate(log, ["best arm", "uniform"], ["dr"], prior=world.prior()).verdict
    assert verdict.sentence.startswith("Playing 'a1' wherever it is eligible would earn 0.")


def test_policies_that_play_as_the_log_did_are_not_compared_with_it():
    world = World(ONE_BEST, EVEN)
    frame = world.rows(np.random.default_rng(4), 300)
    same = evaluate(world.log(frame), "uniform", ["snips"]).verdict
    assert same.sentence == "All of these policies play as the log did, and earn the same."
    assert same.more_than_log is None
    other = evaluate(world.log(frame), ["uniform", "arm:a1"], ["snips"]).verdict
    assert other.policy == "arm:a1"


def test_a_model_alone_is_said_to_be_unchecked():
    world = World(DIFFERENT, EVEN)
    frame = world.rows(np.random.default_rng(1), 900)
    blind = evaluate(world.log(frame.drop("p"), propensity=None), prior=world.prior()).verdict
    assert blind.sentence.startswith("If the reward model is right, which nothing here checks: ")
    assert blind.more_than_log
    checked = evaluate(world.log(frame), prior=world.prior()).verdict
    assert "If the reward model" not in checked.sentence
    assert checked.more_than_log


def test_propensities_that_contradict_themselves_give_no_answer():
    world = World(DIFFERENT, EVEN)
    frame = world.rows(np.random.default_rng(1), 900)
    wrong = evaluate(world.log(frame.with_columns(p=pl.lit(0.2))), "arm:a1", ["snips"]).verdict
    assert wrong.sentence.startswith("These rows give no answer")
    assert wrong.policy is wrong.more_than_log is None
    assert evaluate(world.log(frame), "arm:a1", ["snips"]).verdict.policy == "arm:a1"


def test_few_rows_are_said_to_be_few():
    world = World(DIFFERENT, EVEN)
    few = world.rows(np.random.default_rng(1), 24)
    verdict = evaluate(world.log(few), {"mine": table_policy(_only([0, 1, 2] * 2))}, ["snips"])
    assert "effective rows and is rough" in verdict.verdict.sentence
    many = world.rows(np.random.default_rng(1), 900)
    verdict = evaluate(world.log(many), {"mine": table_policy(_only([0, 1, 2] * 2))}, ["snips"])
    assert "rough" not in verdict.verdict.sentence
    none = few.filter(pl.col("arm") != "a1")
    verdict = evaluate(world.log(none), "arm:a1", ["snips"]).verdict
    assert verdict.sentence.startswith("These rows do not tell what any of the policies would earn")


def test_choices_that_no_row_speaks_for_are_counted():
    world = World(DIFFERENT, EVEN)
    frame = world.rows(np.random.default_rng(1), 900)
    part = frame.filter((pl.col("task") != "t2") | (pl.col("arm") != "a1"))
    share = (part["task"] == "t2").mean()
    verdict = evaluate(world.log(part), "arm:a1", ["dr"], prior=world.prior()).verdict
    start = f"If the reward model is right about the {100 * share:.1f} % of choices that no row"
    assert verdict.sentence.startswith(start)
    whole = evaluate(world.log(frame), "arm:a1", ["dr"], prior=world.prior()).verdict
    assert "If the reward model" not in whole.sentence
    for method, words in (("ips", "earn nothing: "), ("snips", "earn as much as its others: ")):
        verdict = evaluate(world.log(part), "arm:a1", [method]).verdict  # there is no model
        start = f"If the {100 * share:.1f} % of choices that no row speaks for {words}"
        assert verdict.sentence.startswith(start)


@pytest.mark.parametrize(("values", "prior", "more"), [
    (DIFFERENT, {}, True),
    (EQUAL, {}, None),
    (ONE_BEST, {"hyper_mean": [9.0, 0.0, 0.0], "hyper_std": 1e-3, "task_std": 1e-3}, False),
])  # fmt: skip
def test_learning_policies_alone_are_judged_while_they_learn(values, prior, more):
    """The last prior is wrong: it is sure of the worst arm."""
    world = World(values, EVEN)
    frame = world.rows(np.random.default_rng(5), 2000)
    verdict = evaluate(
        world.log(frame), "HierTS", prior=world.prior(**prior), round_size=10
    ).verdict
    assert verdict.sentence.startswith("While it learns, over the ")
    assert verdict.more_than_log is more
    assert ("do not tell whether it is better" in verdict.sentence) == (more is None)


def test_replay_that_kept_nothing_tells_nothing():
    """The policy is sure of an arm that the log never plays, or of one that it plays."""
    world = World(ONE_BEST, np.tile([0.0, 0.5, 0.5], (6, 1)))
    log = world.log(world.rows(np.random.default_rng(5), 300))
    for arm, told in ((0, False), (1, True)):
        prior = world.prior(hyper_mean=9.0 * np.eye(3)[arm], hyper_std=1e-3, task_std=1e-3)
        verdict = evaluate(log, "HierTS", prior=prior, round_size=10).verdict
        assert (verdict.policy == "HierTS") == told
        assert ("replay kept too few" in verdict.sentence) != told
