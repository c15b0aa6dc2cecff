"""Rows weighed by what frozen policies would have done."""

import numpy as np
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits.evaluation.frozen_policies import evenly
from hierbandits.evaluation.weighing import Pairs, weigh
from hierbandits.logs import Split, Survey


def test_equal_pairs_of_a_task_and_its_arms_are_found_once():
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 200, barred=0.4)
    (rows,) = Survey.of(world.log(frame, eligible="eligible")).rows()
    pairs = Pairs.of(rows, 3)
    keys = {(task, mask.tobytes()) for task, mask in zip(rows.tasks, rows.eligible, strict=True)}
    assert len(pairs.tasks) == len(keys) < 200
    np.testing.assert_array_equal(pairs.tasks[pairs.place], rows.tasks)
    np.testing.assert_array_equal(pairs.eligible[pairs.place], rows.eligible)
    np.testing.assert_array_equal(np.bincount(pairs.place), pairs.counts)
    (rows,) = Survey.of(world.log(frame)).rows()
    assert Pairs.of(rows, 3).eligible.shape == (6, 3)
    assert Pairs.of(rows, 3).counts.sum() == 200


def test_every_row_has_the_weight_of_the_policy_over_the_log():
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 200, barred=0.4)
    survey = Survey.of(world.log(frame, eligible="eligible", batch_rows=30))
    seen = []
    tally = weigh(survey, Split.none(), {"uniform": {0: evenly}}, {}, seen.append)["uniform"]
    weight = 1 / frame["eligible"].list.len().to_numpy() / frame["p"].to_numpy()
    pooled = tally.moments.pooled()
    rewards = frame["reward"].to_numpy()
    expected = [weight.mean(), (weight * rewards).mean(), 0.0, rewards.mean()]
    assert_allclose(pooled.mean[0], expected, atol=1e-12)
    assert tally.largest.max() == weight.max()
    assert sum(seen) == 200
    plays = np.ones((6, 3))
    plays[2, 1] = 0  # as if the log had never played it there
    diagnosis = tally.diagnostics(plays, 0.95)
    assert_allclose(diagnosis.unsupported, tally.chosen[0][2, 1] / 200)
    assert diagnosis.unsupported_tasks == 1
