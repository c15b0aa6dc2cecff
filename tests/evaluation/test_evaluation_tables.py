"""The tables of an evaluation."""

import numpy as np
import polars as pl
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_tables import decimals, percent, tables, within


def test_small_and_large_rewards_are_shown_in_units_of_their_own():
    rng = np.random.default_rng(12)
    world = World.drawn(rng)
    frame = world.rows(rng, 400)
    plain = str(evaluate(world.log(frame), "uniform", ["ips"]))
    cells = plain.splitlines()[2].split()[2:5]
    for scale, unit in ((1e-9, "1e-12"), (1e9, "1e+06")):
        scaled = frame.with_columns(pl.col("reward") * scale)
        heading, _, logged = str(evaluate(world.log(scaled), "uniform", ["ips"])).splitlines()[:3]
        assert heading == f"Estimates, ± 95 % intervals, in units of {unit}"
        value, _, reach = logged.split()[2:5]
        for shown, expected in ((value, cells[0]), (reach, cells[2])):
            assert abs(float(shown) / 1000 - float(expected)) < 1e-3
    assert [percent(share) for share in (0.0, 1e-4, 0.0006, 0.25)] == [
        "0.0 %",
        "<0.1 %",
        "0.1 %",
        "25.0 %",
    ]


def test_numbers_have_the_digits_of_the_smallest_error():
    assert [decimals(errors) for errors in ([0.012, 0.5], [3.0], [np.nan, 0.0], [1e-9])] == [
        3,
        1,
        3,
        6,
    ]
    assert within(0.12345, 0.02, 3) == "0.123 ± 0.020"
    assert within(0.12345, np.nan, 2, sign=True) == "+0.12 ± –"
    assert within(np.nan, 1.0, 2) == "–"


def test_the_log_itself_has_no_improvement():
    world = World.drawn(np.random.default_rng(12))
    log = world.log(world.rows(np.random.default_rng(13), 300))
    evaluation = evaluate(log, "uniform", ["ips"])
    heading, columns, rows = next(tables(evaluation))
    assert heading == "Estimates, ± 95 % intervals"
    assert columns[3] == "improvement over log"
    assert [row[3] == "–" for row in rows] == [True, False]
    one = evaluation["uniform", "ips"]
    assert rows[1][3].startswith(f"{one.improvement:+.3f}")
