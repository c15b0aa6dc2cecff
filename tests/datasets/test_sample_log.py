"""The log that is in the package, to try things on."""

import runpy
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

import hierbandits as hb

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_sample_log_is_what_its_command_writes(tmp_path):
    made = runpy.run_path(str(EXAMPLES / "messy_log.py"))["write"](tmp_path / "made.csv")
    assert made.read_bytes() == hb.datasets.sample_log(tmp_path / "sample.csv").read_bytes()


def test_the_sample_log_has_the_mess_that_inspect_finds(tmp_path):
    path = hb.datasets.sample_log(tmp_path / "stores.csv")
    first = hb.inspect(path)
    roles = {"task": "store", "arm": "promo", "reward": "revenue", "propensity": "p"}
    roles |= {"time": "day", "decision": "order"}
    assert first.proposal == roles
    second = hb.inspect(path, **roles, reading=first.suggested)
    assert not second.is_sound
    reading = replace(second.suggested, merge_names=True)
    sums = hb.Log.read(path, hb.Columns(**roles), reading=reading).sums()
    assert (len(sums.tasks), len(sums.arms)) == (150, 4)
    assert sums.num_rows == 3025 - 25 - 60  # copies, and rows without revenue or promotion
    assert hb.inspect(path, **roles, reading=reading).problems == ()


def test_a_file_that_is_there_is_not_replaced(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match=r"path must be that of a new file, got .*mine\.csv"):
        hb.datasets.sample_log(path)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="path must be that of a new file, got 3"):
        hb.datasets.sample_log(3)


def test_the_file_is_in_the_package():
    assert files("hierbandits.datasets").joinpath("sample_log.csv").is_file()
