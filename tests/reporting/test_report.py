"""A report: a folder whose files are whole, named in settings.json, and its own."""

import json
import os
import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import polars as pl
import pytest
from rich.console import Console

import hierbandits
from hierbandits.reporting import Report
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import versions


def _report():
    report = Report("try", "A title", {"seed": 3})
    report.text("First words.", "More words.")
    report.table("A table", ["policy", "regret"], [["TS", "2.5"], ["HierTS", "11.25"]])
    report.figure("curves", panels(1)[0], "A caption")
    report.frame("regret", pl.DataFrame({"regret": [1.0, 2.0]}))
    report.document("more", {"a": [1, None]})
    report.file("own.bin", lambda path: path.write_bytes(b"own"))
    report.row(policy="TS", runs=7, mean=2.5, panel=None)
    return report


def test_a_report_writes_all_it_was_given(tmp_path):
    report = _report()
    assert report.figures == ["curves"]
    page = report.write(tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    digests = settings.pop("digests")
    assert settings == {"seed": 3, "made": report.made, "versions": versions(), "files": sorted(
        ["curves.png", "curves.svg", "more.json", "own.bin", "regret.parquet", "report.html",
         "settings.json", "summary.json"])}  # fmt: skip
    assert settings["files"] == sorted(path.name for path in page.parent.iterdir())
    assert sorted([*digests, "settings.json"]) == settings["files"]
    picture = (page.parent / "curves.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert "<svg" in (page.parent / "curves.svg").read_text()
    assert pl.read_parquet(page.parent / "regret.parquet")["regret"].to_list() == [1.0, 2.0]
    assert json.loads((page.parent / "more.json").read_text()) == {"a": [1, None]}
    assert (page.parent / "own.bin").read_bytes() == b"own"
    (row,) = json.loads((page.parent / "summary.json").read_text())
    assert row == {"policy": "TS", "runs": 7, "mean": 2.5, "panel": None}
    text = page.read_text()
    assert text == report.html()
    assert '"seed": 3' in text.replace("&quot;", '"')


def test_the_terminal_shows_the_tables_alone():
    out = StringIO()
    report = _report()
    report.table("[b]", ["[i]"], [["[u]"]])
    report.show(Console(file=out, width=60))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert lines[:4] == ["A table", "policy  regret", "TS         2.5", "HierTS   11.25"]
    assert "words" not in out.getvalue()
    for text in ("[b]", "[i]", "[u]"):  # shown, and not taken for a style
        assert text in out.getvalue()


def test_a_report_escapes_what_it_is_given(tmp_path):
    report = Report("x", "<script>alert(1)</script>", {"note": "<b>"})
    report.text("a < b")
    report.table("t & u", ["<i>"], [["<td>"]])
    page = report.write(tmp_path / "deep" / "folder").read_text()
    assert "<script>" not in page
    assert "a &lt; b" in page
    assert "&lt;td&gt;" in page


def test_a_second_report_leaves_no_file_of_the_first(tmp_path):
    folder = tmp_path / "out"
    first, second = Report("x", "one", {}), Report("x", "two", {})
    first.frame("old", pl.DataFrame({"regret": [1.0]}))
    second.frame("new", pl.DataFrame({"regret": [2.0]}))
    first.write(folder)
    (folder / "mine.parquet").touch()
    second.write(folder)
    left = {path.name for path in folder.iterdir()}
    assert left == {
        "mine.parquet", "new.parquet", "report.html", "settings.json", "summary.json"
    }  # fmt: skip


def test_what_json_cannot_hold_is_refused_and_the_old_file_kept(tmp_path):
    report = Report("x", "one", {})
    report.document("more", {"a": 1.0})
    report.write(tmp_path)
    report.document("more", {"a": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        report.write(tmp_path)
    assert json.loads((tmp_path / "more.json").read_text()) == {"a": 1.0}


def test_a_full_disk_leaves_the_old_page(tmp_path, monkeypatch):
    page = Report("x", "old", {}).write(tmp_path)
    whole = page.read_text()
    files = []

    def full_disk(file):
        files.append(file)
        if len(files) == 5:  # settings.json and summary.json come before the page, each twice
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        Report("x", "new", {}).write(tmp_path)
    assert page.read_text() == whole
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "report.html", "settings.json", "summary.json"
    ]  # fmt: skip


def test_versions_name_what_computed_the_numbers(monkeypatch):
    assert set(versions()) == {"python", "hierbandits", "numpy", "scipy", "numba"}
    assert all(re.match(r"\d+\.\d+", number) for number in versions().values())
    assert versions()["hierbandits"] == hierbandits.__version__
    monkeypatch.setattr("hierbandits.reporting.report._PACKAGES", ("no-such-package",))
    assert versions()["no-such-package"] == "unknown"


def test_a_page_says_where_it_comes_from():
    report = Report("x", "title", {"seed": 1})
    assert abs(datetime.now(UTC) - datetime.fromisoformat(report.made)) < timedelta(minutes=5)
    page = report.html()
    assert "simulated; no file was read" in page
    assert f"by hierbandits {hierbandits.__version__}" in page
    assert report.made[:10] in page
    report.settings["command"] = "hierbandits learn <log>"
    assert "<dd>hierbandits learn &lt;log&gt;</dd>" in report.html()


def test_settings_of_a_report_are_its_own():
    given = {"seed": 1}
    Report("x", "title", given).settings["command"] = "this"
    assert given == {"seed": 1}


def test_a_number_that_is_not_known_is_null_in_the_summary(tmp_path):
    report = Report("x", "title", {})
    report.row(mean=2.0, standard_error=float("nan"))
    report.write(tmp_path)
    (row,) = json.loads((tmp_path / "summary.json").read_text())
    assert row == {"mean": 2.0, "standard_error": None}


def test_a_caption_says_which_names_the_figure_does_not_draw(tmp_path):
    figure, (axes,) = panels(1)
    axes.set_yticks([0, 1], ["\U000f0000", "drawn"])  # no font has a private character
    report = Report("x", "title", {})
    report.figure("names", figure, "A caption.")
    assert "A caption. No font of this machine can draw some" in report.html()
