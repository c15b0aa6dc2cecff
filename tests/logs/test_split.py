"""Which rows are trained on and which are judged."""

import numpy as np
import pytest
from support.logged import World

from hierbandits.logs import Split, Survey


def test_held_out_rows_depend_on_the_row_and_the_seed_alone():
    split = Split.held_out(0.3, 7)
    whole = split.groups(np.arange(20_000)).astype(bool)
    parts = np.concatenate(
        [split.groups(np.arange(start, start + 1234)) for start in range(0, 20_000, 1234)]
    )
    np.testing.assert_array_equal(whole, parts[:20_000])
    assert abs(whole.mean() - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    assert abs((whole[1:] & whole[:-1]).mean() - 0.09) < 5 * np.sqrt(0.09 / 20_000)
    other = Split.held_out(0.3, 8).groups(np.arange(20_000)).astype(bool)
    assert abs((whole & other).mean() - 0.09) < 5 * np.sqrt(0.09 * 0.91 / 20_000)
    assert not Split.held_out(0.0, 7).groups(np.arange(1000)).any()


def test_folds_are_even_and_depend_on_the_row_and_the_seed_alone():
    world = World.drawn(np.random.default_rng(0))
    survey = Survey.of(world.log(world.rows(np.random.default_rng(1), 50)))
    split = Split.for_evaluation(survey, None, folds=4, seed=5)
    assert (split.kind, split.num_groups, split.judged) == ("folds", 4, (0, 1, 2, 3))
    groups = split.groups(np.arange(20_000))
    assert (np.abs(np.bincount(groups) - 5000) < 5 * np.sqrt(20_000 * 0.25 * 0.75)).all()
    np.testing.assert_array_equal(split.groups(np.arange(700, 900)), groups[700:900])
    other = Split.for_evaluation(survey, None, folds=4, seed=6).groups(np.arange(20_000))
    assert abs((groups == other).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 20_000)
    assert split.training(2) == [0, 1, 3]


@pytest.mark.parametrize("column", ["when", None])
def test_time_splits_a_log_in_halves(column):
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 301)
    survey = Survey.of(world.log(frame, time=column, batch_rows=70))
    split = Split.for_evaluation(survey, "time", folds=5, seed=0)
    assert (split.kind, split.judged, split.training(1)) == ("time", (1,), [0])
    times = frame["when"].to_numpy() if column else None
    groups = split.groups(np.arange(301), times)
    late = (np.arange(301) if times is None else times) >= 150
    np.testing.assert_array_equal(groups, late)


def test_ties_in_time_are_never_torn_apart():
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 100)
    times = np.repeat([1, 2], [80, 20])  # half of the rows are before no time of the log
    survey = Survey.of(world.log(frame.with_columns(when=times), time="when"))
    split = Split.for_evaluation(survey, None, folds=5, seed=0)
    assert split.groups(np.arange(100), times).tolist() == [0] * 80 + [1] * 20


@pytest.mark.parametrize("share", [1.0, -0.1, float("nan"), True, "half"])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=r"held_out must be a share of the rows in \[0, 1\), got"):
        Split.held_out(share, 0)


def test_without_a_split_all_rows_are_judged():
    assert Split.none().groups(np.arange(5)).tolist() == [0] * 5
    assert Split.none().judged == (0,)
    assert Split.none().training(0) == []


@pytest.mark.parametrize(
    ("cut", "shown"),
    [
        (np.datetime64("2024-03-14T00:00:00.000000"), "2024-03-14"),
        (np.datetime64("2024-03-14T09:30:00.000000"), "2024-03-14T09:30"),
        (250, "250"),
        (0.5, "0.5"),
    ],
)
def test_a_cut_is_shown_as_people_write_it(cut, shown):
    split = Split(kind="time", num_groups=2, judged=(1,), cut=cut)
    assert split.shown_cut == shown


def test_rows_are_numbered_by_whole_numbers():
    split = Split.held_out(0.3, 7)
    for wrong in (np.float32(2.0), [0.5], [[1]], np.array(["a"])):
        with pytest.raises(ValueError, match="numbers must be a row of whole numbers"):
            split.groups(wrong)
