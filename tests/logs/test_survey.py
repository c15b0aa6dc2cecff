"""What one pass over a log learns about it."""

import numpy as np
import polars as pl
import pytest
from scipy import stats
from support.learn_logs import FORMS, drawn
from support.logged import World

from hierbandits.logs import Log, Survey
from hierbandits.logs.survey import FEATURES


def test_the_sample_of_features_is_uniform_and_does_not_depend_on_batches():
    rows = drawn(2, armed=False, tasks=60, events=50, d=2)
    size = rows.task.size
    assert size > 2 * FEATURES
    rows.features[:, 0] = np.arange(size)  # each row tells its number
    few, many = (Survey.of(rows.log(batch_rows=b)).features for b in (101, 10_000))
    np.testing.assert_array_equal(few, many)
    places = few[:, 0].astype(int)
    assert len(set(places)) == FEATURES
    np.testing.assert_array_equal(few, rows.features[places])
    assert stats.kstest(places / size, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("values", "two"), [([0.0, 1.0], True), ([0.0, 1.0, 2.0], False), ([-1.0, 7.0], True)]
)
def test_two_valued_rewards_are_noticed(values, two):
    rows = drawn(3, armed=True)
    rows.rewards = np.resize(values, rows.rewards.size)
    assert (Survey.of(rows.log(batch_rows=5)).reward_scale.num_values == 2) == two


@pytest.mark.parametrize(("armed", "populations"), FORMS)
@pytest.mark.parametrize("batch_rows", [7, 10_000])
def test_names_and_sizes_are_those_of_the_log(armed, populations, batch_rows):
    rows = drawn(1, armed=armed, populations=populations, tasks=30)
    seen = []
    log = rows.log(batch_rows=batch_rows)
    survey = Survey.of(log, with_each=lambda batch: seen.append(batch.num_rows))
    assert survey.tasks == tuple(rows.names)
    np.testing.assert_array_equal(survey.population, rows.population)
    assert survey.coordinates == tuple(f"{'a' if armed else 'x'}{j}" for j in range(3))
    assert (survey.num_tasks, survey.num_populations) == (30, populations)
    assert survey.num_rows == sum(seen) == rows.task.size
    assert (survey.is_armed, survey.has_propensities, survey.times) == (armed, False, None)
    assert survey.reward_scale.num_values == 3
    assert (survey.features is None) == armed


@pytest.mark.parametrize("batch_rows", [33, 1000])
def test_propensities_and_times_are_looked_at(batch_rows):
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 300)
    rare = frame.with_columns(
        p=pl.when(pl.int_range(300) < 7).then(0.001).otherwise(pl.col("p")), day=pl.int_range(300)
    )
    survey = Survey.of(world.log(rare, time="when", batch_rows=batch_rows))
    assert (survey.least_propensity, survey.num_rare) == (0.001, 7)
    assert not survey.is_ordered
    np.testing.assert_array_equal(survey.times, np.arange(300))
    assert Survey.of(world.log(rare, time="day", batch_rows=batch_rows)).is_ordered


def test_rows_are_complete_even_if_arms_are_met_late():
    frame = pl.DataFrame(
        {
            "task": ["t", "u", "t"],
            "arm": ["a", "b", "c"],
            "reward": [1.0, 2.0, 3.0],
            "can": [["a"], ["a", "b"], ["b", "c"]],
        }
    )
    named = {"task": "task", "arm": "arm", "reward": "reward", "eligible": "can"}
    log = Log.of(frame, named)
    survey = Survey.of(Log(log.source, log.columns, None, 1, False), uniform=True)
    assert survey.arms == ("a", "b", "c")
    assert survey.least_propensity == 1 / 3
    parts = list(survey.rows())
    assert [part.size for part in parts] == [1, 1, 1]
    whole = parts[0].then(parts[1]).then(parts[2])
    assert whole.eligible.tolist() == [
        [True, False, False],
        [True, True, False],
        [False, True, True],
    ]
    assert whole.propensities.tolist() == [1.0, 0.5, 0.5]
    assert (whole.numbers.tolist(), whole.arms.tolist()) == ([0, 1, 2], [0, 1, 2])
    some = whole.only(np.array([False, True, True]))
    assert (some.tasks.tolist(), some.rewards.tolist(), some.times) == ([1, 0], [2.0, 3.0], None)


def test_a_log_with_propensities_is_not_called_uniform():
    world = World.drawn(np.random.default_rng(0))
    log = world.log(world.rows(np.random.default_rng(1), 20))
    with pytest.raises(ValueError, match="uniform must be False if the log has propensities"):
        Survey.of(log, uniform=True)


def test_features_in_one_column_are_named_by_their_places():
    frame = pl.DataFrame({"task": [1, 2], "x": [[1.0, 2.0], [3.0, 4.0]], "reward": [0.5, 1.5]})
    survey = Survey.of(Log.of(frame, {"task": "task", "reward": "reward", "features": "x"}))
    assert survey.coordinates == ("x[0]", "x[1]")
