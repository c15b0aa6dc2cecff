"""The tables of an evaluation."""

import numpy as np
import polars as pl
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_tables import tables


def test_small_and_large_rewards_are_shown_in_units_of_their_own():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    frame = world.rows(rng, 400)
    plain = str(evaluate(world.log(frame), "uniform", ["ips"]))
    cells = plain.splitlines()[4].split()[2:5]
    for scale, unit in ((1e-9, "1e-12"), (1e9, "1e+06")):
        scaled = frame.with_columns(pl.col("reward") * scale)
        heading, _, logged = str(evaluate(world.log(scaled), "uniform", ["ips"])).splitlines()[2:5]
        assert heading == f"Estimates, ± 95 % intervals, in units of {unit}"
        value, _, reach = logged.split()[2:5]
        for shown, expected in ((value, cells[0]), (reach, cells[2])):
            assert abs(float(shown) / 1000 - float(expected)) < 1e-3


def test_the_log_itself_has_no_improvement():
    world = World.drawn(np.random.default_rng(12))
    log = world.log(world.rows(np.random.default_rng(13), 300))
    evaluation = evaluate(log, "uniform", ["ips"])
    heading, columns, rows = next(tables(evaluation))
    assert heading == "Estimates, ± 95 % intervals"
    assert columns[3] == "over the log"
    assert [row[3] == "–" for row in rows] == [True, False]
    one = evaluation["uniform", "ips"]
    assert rows[1][3].startswith(f"{one.improvement:+.3f}")


def test_the_best_arm_is_a_column_and_replay_a_table_of_its_own():
    world = World(np.tile([0.0, 3.0, 0.0], (6, 1)), np.full((6, 3), 1 / 3), noise=0.1)
    log = world.log(world.rows(np.random.default_rng(13), 300))
    evaluation = evaluate(log, ["best arm", "greedy", "uniform", "HierTS"], prior=world.prior())
    first, replay, others, weights = tables(evaluation)
    assert first[1][-2] == "over the best arm"
    assert [row[0] for row in first[2]] == ["logged", "best arm", "greedy", "uniform"]
    assert {row[1] for row in first[2]} == {"mean", "DR"}
    assert [row[4] for row in first[2]][:3] == ["–", "–", "the same arms"]
    (gap,) = (
        each
        for each in evaluation.differences
        if (each.policy, each.method, each.against) == ("uniform", "dr", "best arm")
    )
    assert first[2][3][4].startswith(f"{gap.value:+.4f}")
    assert replay[0].startswith("Replay")
    assert [row[0] for row in replay[2]] == ["HierTS"]
    assert {row[1] for row in others[2]} == {"IPS", "SNIPS", "DM"}
    assert weights[0].startswith("Weights")
