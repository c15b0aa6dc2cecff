"""HierOPO: the policy that a log alone can vouch for."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from support.logged import NAMES, World

from hierbandits import Belief, evaluate, hieropo
from hierbandits.policies import ucb_width


def test_hieropo_plays_the_arm_of_least_regret_bound_in_every_task():
    rng = np.random.default_rng(9)
    world = World.drawn(rng, tasks=12, skew=2.0)
    frame = world.rows(rng, 200)
    log, prior = world.log(frame), world.prior()
    for alpha in (None, 0.0, 1.5):
        learned = hieropo(log, prior=prior, delta=0.1, alpha=alpha)
        width = ucb_width(0.1) if alpha is None else alpha
        belief = Belief(prior, len(learned.tasks))
        order = {name: place for place, name in enumerate(learned.tasks)}
        belief.observe(
            [order[task] for task in frame["task"]],
            [int(arm[1:]) for arm in frame["arm"]],
            frame["reward"].to_numpy(),
        )
        for place, task in enumerate(learned.tasks):
            posterior = belief.task(place)
            mean, var = posterior.mean, posterior.std**2
            assert_allclose(learned.mean[place], mean, rtol=1e-9)
            gaps = mean - mean[:, None] + width * np.sqrt(var + var[:, None])  # of b over a
            gaps[np.eye(3, dtype=bool)] = -np.inf
            assert_allclose(learned.regret[place], gaps.max(axis=1))
            best = int(gaps.max(axis=1).argmin())
            assert learned.arm(task) == learned.frame()["arm"][place] == learned.arms[best]
            a, b = (other for other in range(3) if other != best)
            second = a if mean[a] > mean[b] else b  # of two, the one of higher mean
            rest = tuple(learned.arms[other] for other in (a, b))
            assert learned(task, rest) == {learned.arms[second]: 1.0}
        assert learned.alpha == width
    assert (
        repr(learned)
        == f"<PessimisticPolicy of {len(learned.tasks)} tasks, {len(learned.arms)} arms>"
    )
    text = str(learned).splitlines()
    assert len(text) == 13
    assert text[0].split() == ["task", "arm", "mean", "regret", "at", "most", "plays", "rows"]
    with pytest.raises(ValueError, match="learned from these very rows"):
        evaluate(log, {"it": learned})
    other = world.log(world.rows(rng, 200))
    assert evaluate(other, {"it": learned}, ["ips"])["it", "ips"].rows == 200
    with pytest.raises(ValueError, match=r"alpha must be a number of at least 0, got -1"):
        hieropo(log, prior=prior, alpha=-1.0)
    with pytest.raises(ValueError, match="task must be one of"):
        learned.arm("nowhere")


def test_pessimism_earns_more_than_greed_where_arms_were_hardly_tried():
    """A logger that tries bad arms rarely: their means are noise, and greed falls for it."""
    gap = []
    for seed in range(40):
        rng = np.random.default_rng([10, seed])
        values = np.tile([0.5, 0, 0, 0, 0, 0, 0, 0], (10, 1))
        odds = np.tile([0.86] + [0.02] * 7, (10, 1))
        world = World(values, odds)
        log, prior = world.log(world.rows(rng, 400)), world.prior(hyper_std=0.01, task_std=1.0)
        earned = []
        for alpha in (0.0, 1.5):
            learned = hieropo(log, prior=prior, alpha=alpha)
            earned.append(values[0][learned.choices].mean())
        gap.append(earned[1] - earned[0])
    gap = np.array(gap)
    assert gap.mean() > 4 * gap.std(ddof=1) / np.sqrt(40)


def test_bounds_are_told_apart_whatever_is_added_to_the_rewards():
    rng = np.random.default_rng(14)
    world = World.drawn(rng)
    lifted = world.rows(rng, 300).with_columns(pl.col("reward") + 1000)
    policy = hieropo(world.log(lifted))
    plain = hieropo(world.log(lifted.with_columns(pl.col("reward") - 1000)))
    assert_allclose(policy.regret, plain.regret, rtol=1e-3)
    for (_, _, mean, bound, _, _), row in zip(
        policy.cells()[1], policy.frame().iter_rows(named=True), strict=True
    ):
        tenth = row["regret_bound"] / 10
        assert abs(float(mean) - row["mean"]) <= max(tenth, 0.5)
        assert abs(float(bound) - row["regret_bound"]) <= tenth


def test_an_arm_that_was_rarely_tried_and_is_best_is_played():
    """Lower bounds of the arms' own values shun it, and earn less than the best single arm."""
    values = np.tile([0.0, 0.1, 0.5], (8, 1))
    gap = []
    for seed in range(20):
        world = World(values, np.tile([0.46, 0.46, 0.08], (8, 1)))
        frame = world.rows(np.random.default_rng([11, seed]), 500)
        learned = hieropo(world.log(frame), prior=world.prior(task_std=0.3))
        shy = (learned.mean - learned.alpha * np.sqrt(learned.bounds.covs)).argmax(axis=1)
        gap.append(values[0][learned.choices].mean() - values[0][shy].mean())
    assert np.mean(gap) > 4 * np.std(gap, ddof=1) / np.sqrt(20)
    assert np.mean(gap) > 0.1


def test_a_frame_with_its_columns_named_teaches_as_much_as_a_log():
    rng = np.random.default_rng(16)
    world = World.drawn(rng)
    frame = world.rows(rng, 200)
    named = {name: NAMES[name] for name in ("task", "arm", "reward")}
    one = hieropo(frame, **named, population="group", arms=world.arms)
    assert one.frame().equals(hieropo(world.log(frame, population="group")).frame())
