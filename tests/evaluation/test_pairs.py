"""Distinct pairs of a task and its eligible arms."""

import numpy as np
from support.logged import World

from hierbandits.evaluation.pairs import Pairs
from hierbandits.logs import Survey


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
