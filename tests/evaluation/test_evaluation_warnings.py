"""What evaluation warns of: missing support, wrong propensities, few rows, wrong models."""

import numpy as np
import polars as pl
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.difference import Difference
from hierbandits.evaluation.evaluation_verdict import for_all
from hierbandits.evaluation.evaluation_warnings import of_losers


def test_support_and_propensities_are_diagnosed():
    rng = np.random.default_rng(11)
    world = World.drawn(rng, skew=0.5)
    frame = world.rows(rng, 3000).filter((pl.col("task") != "t2") | (pl.col("arm") != "a1"))
    evaluation = evaluate(world.log(frame), ["arm:a1", "arm:a0"], ["ips"])
    share = (frame["task"] == "t2").mean()
    assert_allclose(evaluation.diagnostics["arm:a1"].unsupported, share)
    assert evaluation.diagnostics["arm:a1"].unsupported_tasks == 1
    assert evaluation.diagnostics["arm:a0"].unsupported == 0
    missing = [w for w in evaluation.warnings if "never played there" in w]
    assert len(missing) == 1
    assert missing[0].startswith(f"arm:a1: {100 * share:.1f} % of its choices, in 1 of 6 tasks")
    place = evaluation.tasks.index("t2")
    each = evaluation.by_task["arm:a1", "ips"].estimates
    assert each.value[place] == 0  # no row of it has weight: no interval pretends to know
    assert np.isnan(each.low[place])
    assert not any("average" in w for w in evaluation.warnings)

    wrong = world.rows(rng, 3000).with_columns(p=pl.col("p") ** 0.7)
    evaluation = evaluate(world.log(wrong), ["arm:a1"], ["ips"])
    assert any("propensities may be wrong" in w for w in evaluation.warnings)

    rare = world.rows(rng, 500).with_columns(
        p=pl.when(pl.int_range(500) < 7).then(0.001).otherwise(pl.col("p"))
    )
    evaluation = evaluate(world.log(rare), ["uniform"], ["ips"])
    assert any(w.startswith("7 rows have a propensity below 0.01") for w in evaluation.warnings)

    few = world.rows(rng, 40)
    evaluation = evaluate(world.log(few), ["arm:a1"], ["ips"])
    assert any("effective rows of 40" in w for w in evaluation.warnings)
    assert any("of 6 tasks have fewer than 10 effective rows" in w for w in evaluation.warnings)


def test_policies_with_the_same_trouble_share_a_warning():
    rng = np.random.default_rng(11)
    world = World.drawn(rng)
    evaluation = evaluate(world.log(world.rows(rng, 40)), prior=world.prior())
    starts = [warning.split(":")[0] for warning in evaluation.warnings]
    assert len(evaluation.warnings) <= 5
    assert starts.count("4 policies (best arm, HierOPO, greedy and uniform)") >= 2
    (few,) = (w for w in evaluation.warnings if "effective rows of 40" in w)
    sizes = [each.effective_rows for each in evaluation.diagnostics.values()]
    assert f"only {min(sizes):.0f} to {max(sizes):.0f} effective" in few
    many = {f"p{i}": lambda task, arms: {arms[0]: 1.0} for i in range(9)}
    crowd = evaluate(world.log(world.rows(rng, 40)), many, ["ips"]).warnings
    assert crowd[0].startswith("9 policies (p0, p1, p2, p3, p4, p5 and 3 more): ")


def test_a_learned_policy_that_loses_to_the_best_arm_is_called_out():
    """A task has few rows, and a policy that shares nothing falls for luck; one arm is best."""
    world = World(np.tile([0.0, 1.0, 0.0], (40, 1)), np.full((40, 3), 1 / 3), noise=2.0)
    log = world.log(world.rows(np.random.default_rng(3), 1200))
    policies = ["best arm", "frozen:TS", "greedy", "uniform"]
    evaluation = evaluate(log, policies, prior=world.prior(hyper_std=1.0, task_std=0.05), draws=50)
    assert set(evaluation.best_arms) == {"a1"}
    (called,) = (w for w in evaluation.warnings if "Do not use" in w)
    assert called.startswith("frozen:TS: earns less than always playing 'a1', by 0.")
    assert "uniform" not in called  # nobody learned it


def test_a_learned_policy_that_does_not_lose_is_not_called_out():
    """Every task has an arm of its own: what was learned of each earns more than one for all."""
    values = np.tile(np.eye(3), (4, 1))
    world = World(values, np.full((12, 3), 1 / 3))
    log = world.log(world.rows(np.random.default_rng(3), 1200))
    evaluation = evaluate(log, ["best arm", "greedy", "HierOPO"], prior=world.prior(), folds=2)
    assert not any("Do not use" in warning for warning in evaluation.warnings)
    arm = int(evaluation.best_arms[0][1:])
    assert evaluation["greedy", "dr"].value > values[:, arm].mean() + 0.4  # which is 1 / 3


def test_rows_enough_of_an_even_log_are_not_warned_of():
    """The least propensity is 1 / 3, and every task has 250 rows."""
    world = World(np.zeros((6, 3)), np.full((6, 3), 1 / 3))
    frame = world.rows(np.random.default_rng(2), 1500)
    assert evaluate(world.log(frame), ["arm:a1", "uniform"], ["ips"]).warnings == ()
    some = frame.with_columns(p=pl.when(pl.int_range(1500) < 7).then(0.001).otherwise("p"))
    assert any(w.startswith("7 rows have") for w in evaluate(world.log(some), "uniform").warnings)


def test_few_replayed_rows_and_times_that_fall_are_called_out():
    world = World(np.zeros((6, 3)), np.full((6, 3), 1 / 3))
    frame = world.rows(np.random.default_rng(2), 1500)
    for rows, few in ((frame, False), (frame.head(120), True)):
        for ordered in (True, False):
            log = world.log(rows.sort("when") if ordered else rows, time="when")
            warnings = evaluate(log, "HierTS", prior=world.prior(), round_size=10).warnings
            assert any("too few to show how it learns" in w for w in warnings) == few
            assert any("Times fall" in w for w in warnings) != ordered


def test_a_loss_is_called_out_only_where_the_verdict_tells_it_too():
    """The verdict's intervals hold for all policies at once, and are wider."""
    gap = Difference.of(("greedy", "dr", "best arm"), -0.22, 0.1, np.inf, 0.95)
    assert gap.high < 0
    assert of_losers([gap], {"greedy"}, "always playing 'a'", 0.95)
    assert for_all(0.95, 1) == 0.95
    assert of_losers([gap], {"greedy"}, "always playing 'a'", for_all(0.95, 4)) == []
    assert of_losers([gap], set(), "always playing 'a'", 0.95) == []


def test_replay_that_agrees_too_often_or_too_rarely_is_called_out():
    rng = np.random.default_rng(16)
    world = World.drawn(rng)
    frame = world.rows(rng, 3000)

    def called_out(rows):
        evaluation = evaluate(world.log(rows), "HierTS", prior=world.prior(), round_size=10)
        assert evaluation.replays["HierTS"].expected == len(rows) * rows["p"].min()
        return any("were to be expected" in warning for warning in evaluation.warnings)

    assert not called_out(frame)
    assert called_out(frame.with_columns(p=pl.col("p") ** 0.5))
    narrow = World(np.tile([0.0, -0.5, -0.5], (6, 1)), np.tile([0.0, 0.5, 0.5], (6, 1)))
    assert called_out(narrow.rows(rng, 3000))  # the policy waits for an arm that never comes


def test_dm_and_dr_that_part_are_called_out_and_those_that_agree_are_not():
    """A context that the log's policy saw makes arm 0 look good; the model does not see it."""
    hidden, fair = [], []
    for run in range(12):
        rng = np.random.default_rng([5, run])
        world = World.drawn(rng, skew=0.0)
        seen, task = rng.random(800) < 0.5, rng.integers(0, 6, 800)
        odds = np.where(seen[:, None], [0.6, 0.2, 0.2], [0.2, 0.4, 0.4])
        arm = (odds.cumsum(1) < rng.random((800, 1))).sum(1)
        for effect, found in ((2.0, hidden), (0.0, fair)):
            reward = world.values[task, arm] + effect * (seen - 0.5) + rng.normal(size=800)
            frame = pl.DataFrame(
                {
                    "task": [f"t{i}" for i in task],
                    "arm": [f"a{i}" for i in arm],
                    "reward": reward,
                    "p": odds[np.arange(800), arm],
                }
            )
            warnings = evaluate(world.log(frame), "arm:a0", prior=world.prior(), folds=2).warnings
            found.append(any("further apart than their errors allow" in w for w in warnings))
    assert np.mean(hidden) > 0.8
    assert np.mean(fair) == 0


def test_a_model_that_the_rows_contradict_is_called_out():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 2000))
    wrong = world.prior(hyper_mean=30.0, hyper_std=0.01, task_std=0.01)
    evaluation = evaluate(log, "uniform", prior=wrong)
    assert any("prefer DR" in w for w in evaluation.warnings)
    right = evaluate(log, "uniform", prior=world.prior())
    assert not any("prefer DR" in w for w in right.warnings)
    truth = world.values.mean()
    assert abs(evaluation["uniform", "dr"].value - truth) < 5 * evaluation["uniform", "dr"].error
    assert abs(evaluation["uniform", "dm"].value - truth) > 10
