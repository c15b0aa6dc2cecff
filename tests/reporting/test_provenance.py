"""Where the numbers of a report come from."""

import os
import re
from hashlib import sha256

import pytest

from hierbandits.reporting.provenance import MADE_FROM, file_facts, origin_lines

VERSIONS = {"python": "3.12.0", "hierbandits": "1.2.3", "numpy": "2.0"}
MADE = "2026-11-16T09:30:05Z"


def _lines(**settings):
    return origin_lines(settings, MADE, VERSIONS)


def test_the_facts_of_a_file_are_those_of_its_bytes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_bytes(b"task,reward\n")
    os.utime("log.csv", (0, 86400 * 365))
    facts = file_facts("log.csv")
    digest = sha256(b"task,reward\n").hexdigest()
    assert facts == {
        "name": "log.csv", "bytes": 12, "modified": "1971-01-01T00:00:00Z", "sha256": digest
    }  # fmt: skip
    assert file_facts("log.csv", most_bytes=12)["sha256"] == digest
    assert file_facts("log.csv", most_bytes=11)["sha256"] is None
    with pytest.raises(FileNotFoundError):
        file_facts("nowhere.csv")


def test_every_line_of_an_origin():
    facts = {"name": "log.csv", "bytes": 1234, "modified": MADE, "sha256": "ab" * 32}
    source = {"log": "log.csv", "files": [facts], "rows": 5678}
    source["columns"] = {"task": "store", "features": ["x0", "x1"]}
    lines = _lines(**{MADE_FROM: source}, command="hierbandits learn log.csv")
    assert [word for word, _ in lines] == ["Data", "File", "Columns", "Rows", "Made", "Command"]
    text = dict(lines)
    assert text["Data"] == "log.csv"
    assert text["File"].startswith("log.csv, 1,234 bytes, last changed on 2026-11-16 at 09:30:05")
    assert text["File"].endswith(f"SHA-256 {'ab' * 32}")
    assert text["Columns"] == "task: store; features: x0, x1"
    assert text["Rows"] == "5,678 read; left out: none"
    made = "on 2026-11-16 at 09:30:05 UTC by hierbandits 1.2.3 (python 3.12.0, numpy 2.0)"
    assert text["Made"] == made
    assert text["Command"] == "hierbandits learn log.csv"


def test_what_was_simulated_or_called_says_so():
    text = dict(_lines())
    assert text["Data"] == "simulated; no file was read"
    assert text["Command"] == "none: made by a call of the library"
    assert "File" not in text
    frame = dict(_lines(**{MADE_FROM: {"log": "a polars DataFrame", "files": [], "rows": 3}}))
    assert (frame["Data"], frame["Rows"]) == ("a polars DataFrame", "3 read; left out: none")
    some = {"log": "a list", "rows": 3, "left_out": "2 without 'x'"}
    assert dict(_lines(**{MADE_FROM: some}))["Rows"] == "3 read; left out: 2 without 'x'"


def test_many_files_and_columns_are_counted():
    facts = {"name": "x", "bytes": 1, "modified": MADE, "sha256": None}
    source = {"log": "*.csv", "files": [facts] * 9, "columns": {"features": ["x"] * 20}}
    lines = _lines(**{MADE_FROM: source})
    files = [text for word, text in lines if word == "File"]
    assert len(files) == 6
    assert files[-1] == "4 more files are in settings.json"
    assert "not computed for so large a file" in files[0]
    assert dict(lines)["Columns"].endswith(" and 8 more")


def test_names_have_no_power_and_no_end():
    source = {"log": "\x1b[31m" + "x" * 70_000, "columns": {"task": "\x07" + "y" * 70_000}}
    for _, text in _lines(**{MADE_FROM: source}):
        assert re.fullmatch(r"[^\x00-\x1f]{1,400}", text)
