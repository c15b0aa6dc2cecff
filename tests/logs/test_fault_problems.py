"""Bad cells as people are told of them."""

from collections import Counter

import pytest

import hierbandits as hb
from hierbandits.logs.fault import Fault
from hierbandits.logs.fault_problems import fault_problem


def _told(kind, words, role="reward", must="be a number", *, text=True, **reading):
    fault = Fault(role, "c", kind, must, len(words), [4], Counter(words))
    return fault_problem(fault, hb.Reading(**reading), text)


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["1,5", "2,5"], {"decimal": ","}),
        (["NA", "n/a"], {"missing": ("NA", "n/a"), "drop_missing": True}),
        ([" 1", "2 "], {"strip": True}),
        ([" NA", "2 "], {"strip": True, "missing": ("NA",), "drop_missing": True}),
        (["-", "1,5"], {"decimal": ",", "missing": ("-",), "drop_missing": True}),
        (["1,5", "much"], {}),
        (["much"], {}),
    ],
)
def test_cells_that_are_no_numbers_have_a_way_on_if_there_is_one(words, fix):
    problem = _told("number", words)
    assert problem.fix == fix
    assert problem.stops
    if fix:
        assert problem.remedy == f"{' '.join(hb.Reading(**fix).options())} goes on."
    else:
        assert problem.remedy == "Correct these cells, or name another column."


def test_a_frame_of_text_has_no_option():
    assert _told("number", ["1,5"], text=False).remedy == "Make this a column of numbers."


def test_missing_cells_are_left_out_on_request():
    problem = _told("missing", ["None"] * 3, must="not be missing")
    assert (problem.finding, problem.fix) == ("3 cells are missing", {"drop_missing": True})
    assert "If no reward means 0, write 0" in problem.effect


def test_times_are_read_by_a_form_if_it_is_certain():
    named = {"role": "time", "must": "be a number"}
    assert _told("other", ["12/31/2024"], **named).fix == {"time_format": "%m/%d/%Y"}
    both = _told("other", ["01/02/2024"], **named)
    assert both.fix == {}
    assert "So does '%d/%m/%Y': these days do not tell which is meant." in both.remedy
    assert "--time-format says how" in _told("other", ["soon"], **named).remedy
    zone = _told("other", ["2024-03-14"], role="time", must="have a time zone, as others")
    assert zone.remedy == "Give all times a zone, or none."


def test_what_must_be_corrected_by_hand():
    problem = _told("other", ["2.0"], role="propensity", must="be in (0, 1]")
    assert problem.finding == "1 cells must be in (0, 1], got '2.0'"
    assert (problem.fix, problem.rows, problem.role) == ({}, (4,), "propensity")
    assert "empty them" in _told("finite", ["inf"], must="be finite").remedy


@pytest.mark.parametrize(
    ("cells", "remedy", "value"),
    [
        (["1,234.5", "99.5"], "--thousands=, goes on", 1234.5),
        (["1 234.5", "12 345"], "--thousands=' ' goes on", 1234.5),
        (["1,234", "99.5"], "--decimal=, or --thousands=, goes on: only you know which", None),
        (["1,25", "99,5"], "--decimal=, goes on", 1.25),
    ],
)
def test_thousands_are_told_from_decimals(cells, remedy, value, tmp_path):
    path = tmp_path / "log.csv"
    rows = "".join(f"a;x;{cell}\n" for cell in cells)
    path.write_text(f"s;k;y\n{rows}", encoding="utf-8")
    roles = {"task": "s", "arm": "k", "reward": "y"}
    inspection = hb.inspect(path, **roles)
    (problem,) = [problem for problem in inspection.problems if problem.stops]
    assert remedy in str(problem)
    if value is not None:
        log = hb.Log.read(path, hb.Columns(**roles), reading=inspection.suggested)
        (batch,) = log.batches()
        assert batch.rewards[0] == value
