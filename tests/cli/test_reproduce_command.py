"""The command `hierbandits reproduce`: its folder, its resumption, its one-line errors."""

import json
from pathlib import Path

import pytest
from support.processes import command, interrupted
from typer.testing import CliRunner

from hierbandits.archive import read_archive
from hierbandits.cli import app
from hierbandits.experiments import EXPERIMENTS


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["reproduce"], [f"{name} " for name in EXPERIMENTS]),
        (["reproduce", "--help"], ["│ --runs ", "│ --seed ", "│ --jobs ", "│ --out ", "│ --data "]),
    ],
    ids=lambda value: " ".join(value),
)
def test_commands_answer(arguments, lines):
    result = command(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    for line in lines:
        assert f"\n{line}" in f"\n{result.stdout}"


CHUNKS = ".hierbandits-chunks"


def test_an_experiment_by_command(tmp_path):
    outputs = []
    for jobs in ("1", "2"):
        folder = tmp_path / jobs
        own = folder / "unfinished" / "mine"
        own.parent.mkdir(parents=True)
        own.touch()
        result = command(
            "reproduce", "meta", "--runs", "6", "--seed", "3", "--jobs", jobs, "--out", str(folder)
        )
        assert result.returncode == 0, result.stderr
        assert f"Report: {folder / 'report.html'}\n" in result.stdout
        assert "OracleTS" in result.stdout
        assert not (folder / CHUNKS).exists()
        assert own.exists()
        settings = json.loads((folder / "settings.json").read_text())
        assert settings["command"].startswith("hierbandits reproduce meta --runs 6 --seed 3")
        rows = json.loads((folder / "summary.json").read_text())
        outputs.append([{k: v for k, v in row.items() if k != "seconds"} for row in rows])
    assert outputs[0] == outputs[1]  # same seed, same numbers, whatever the jobs


def test_an_interrupted_experiment_says_so_and_resumes(tmp_path):
    arguments = ["reproduce", "meta", "--runs", "20", "--jobs", "1", "--out", str(tmp_path)]
    status, message = interrupted(*arguments, once=lambda: list(tmp_path.glob(f"{CHUNKS}/*.chunk")))
    assert status == 130
    assert message.endswith("Interrupted: run the same command again to resume\n")
    assert "Traceback" not in message
    chunks = list(tmp_path.glob(f"{CHUNKS}/*.chunk"))
    assert 1 <= len(chunks) < 8
    assert not (tmp_path / "report.html").exists()
    seconds = {read_archive(chunk, "chunk", 1)[0]["seconds"] for chunk in chunks}

    resumed = command(*arguments)
    assert resumed.returncode == 0, resumed.stderr
    assert not (tmp_path / CHUNKS).exists()
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert len(rows) == 8
    assert seconds <= {row["seconds"] for row in rows}  # those chunks were not computed again


@pytest.mark.parametrize("package", ["matplotlib", "polars", "joblib"])
def test_missing_extras_are_told_before_simulating(package, tmp_path):
    (tmp_path / f"{package}.py").write_text(f"raise ImportError('no {package}')")
    out = tmp_path / "out"
    result = command("reproduce", "meta", "--out", str(out), path=tmp_path)
    assert result.returncode == 2
    assert f"this command needs {package}" in result.stderr
    assert "pip install 'hierbandits[all]'" in result.stderr
    assert not out.exists()


def test_a_folder_that_cannot_be_is_told_before_simulating(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", Path("/proc/x")):
        result = command("reproduce", "meta", "--out", str(place))
        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1
        assert f"--out must be a folder that can be written, got {place}: " in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "nope"], "EXPERIMENT must be one of synthetic"),
        (["reproduce", "meta", "--runs", "1"], "Invalid value for '--runs'"),
        (["reproduce", "meta", "--runs", "many"], "Invalid value for '--runs'"),
        (["reproduce", "meta", "--data", "x"], "--data is for the experiment digits alone"),
        (["reproduce", "meta", "--dataset", "x"], "--dataset is for the experiment digits alone"),
        (["reproduce", "meta", "--digit", "0"], "--digit is for the experiment digits alone"),
    ],
)
def test_bad_commands_say_what_was_expected(arguments, message):
    result = command(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_chunks_are_not_kept_behind_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.chunk").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / CHUNKS).symlink_to(tmp_path / "elsewhere")
    result = CliRunner().invoke(app, ["reproduce", "meta", "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert (tmp_path / "elsewhere" / "mine.chunk").exists()


def test_options_are_refused_by_experiments_that_do_not_take_them(tmp_path):
    for option, value, named in (
        ("--tasks", "4", "synthetic, similarity, meta"),
        ("--concurrent", "2", "synthetic, similarity"),
        ("--policies", "TS", "synthetic, similarity, meta"),
    ):
        words = ["reproduce", "shapes", option, value, "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 2
        assert result.stderr == f"Error: {option} is for {named}, got it for shapes\n"
    unknown = CliRunner().invoke(app, ["reproduce", "meta", "--policies", "TS,Best"])
    assert unknown.exit_code == 2
    assert "--policies must be among HierTS, " in unknown.stderr
