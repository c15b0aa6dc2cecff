"""How the package behaves as a process: light to import, compiled once, content with any cache."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hierbandits
from hierbandits.archive import read_archive
from hierbandits.experiments import EXPERIMENTS

USE = (
    "import hierbandits as hb;"
    "agent = hb.Agent(hb.GaussianHierarchy.armed(2, hyper_std=1, task_std=1, noise_std=1), seed=0);"
    "d = agent.decide('t'); print(agent.reward(d.id, 1.0))"
)
NOTICE = "compiling kernels"


def _python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_import_compiles_nothing_and_the_first_use_says_so_once(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    imported = _python("import hierbandits", **cache)
    assert (imported.returncode, imported.stderr) == (0, "")
    assert not list(tmp_path.rglob("*.nbc"))
    first = _python(USE, **cache)
    assert (first.returncode, first.stdout) == (0, "True\n")
    assert first.stderr.count(NOTICE) == 1
    again = _python(USE, **cache)
    assert (again.returncode, again.stdout, again.stderr) == (0, "True\n", "")


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    package = tmp_path / "hierbandits"
    shutil.copytree(
        Path(hierbandits.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in (package, package / "kernels"):
        (folder / "__pycache__").touch()  # a file where the cache's folder would be
    nowhere = "/proc/nowhere"  # not even root can write there
    places = ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME")
    used = _python(USE, PYTHONPATH=str(tmp_path), **dict.fromkeys(places, nowhere))
    assert (used.returncode, used.stdout) == (0, "True\n"), used.stderr
    assert used.stderr.count(NOTICE) == 1
    assert len(used.stderr.splitlines()) == 1


def test_the_core_imports_nothing_but_numpy_scipy_and_numba():
    code = "import sys, hierbandits; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = _python(code).stdout
    for heavy in ("matplotlib", "polars", "typer", "rich", "pandas"):
        assert f"'{heavy}'" not in loaded


def test_the_command_says_what_is_missing(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError('typer')")
    missing = _python("import hierbandits.cli", PYTHONPATH=str(tmp_path))
    assert missing.returncode == 1
    assert "pip install 'hierbandits[all]'" in missing.stderr


COMMAND = Path(sys.executable).with_name("hierbandits")


def _command(*arguments, **environment):
    return subprocess.run(
        [COMMAND, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--version"], [f"hierbandits {hierbandits.__version__}"]),
        (["policies"], [f"{name} " for name in hierbandits.POLICIES]),
        (["--help"], ["│ policies ", "│ reproduce ", "│ bound "]),
        (["reproduce"], [f"{name} " for name in EXPERIMENTS]),
        (["reproduce", "--help"], ["│ --runs ", "│ --seed ", "│ --jobs ", "│ --out ", "│ --data "]),
        (["bound", "--help"], ["│ --tasks ", "│ --concurrent ", "│ --eta ", "│ --prior "]),
    ],
    ids=lambda value: " ".join(value),
)
def test_commands_answer(arguments, lines):
    result = _command(*arguments)
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
        result = _command(
            "reproduce", "meta", "--runs", "6", "--seed", "3", "--jobs", jobs, "--out", str(folder)
        )
        assert result.returncode == 0, result.stderr
        assert f"Report: {folder / 'report.html'}\n" in result.stdout
        assert "OracleTS" in result.stdout
        assert not (folder / CHUNKS).exists()
        assert own.exists()
        rows = json.loads((folder / "summary.json").read_text())
        outputs.append([{k: v for k, v in row.items() if k != "seconds"} for row in rows])
    assert outputs[0] == outputs[1]  # same seed, same numbers, whatever the jobs


def test_an_interrupted_experiment_says_so_and_resumes(tmp_path):
    arguments = ["reproduce", "meta", "--runs", "20", "--jobs", "1", "--out", str(tmp_path)]
    process = subprocess.Popen([COMMAND, *arguments], stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 240
        while not list(tmp_path.glob(f"{CHUNKS}/*.chunk")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert told.endswith("Interrupted: run the same command again to resume\n")
    assert "Traceback" not in told
    chunks = list(tmp_path.glob(f"{CHUNKS}/*.chunk"))
    assert 1 <= len(chunks) < 8
    assert not (tmp_path / "report.html").exists()
    seconds = {read_archive(chunk, "chunk", 1)[0]["seconds"] for chunk in chunks}

    resumed = _command(*arguments)
    assert resumed.returncode == 0, resumed.stderr
    assert not (tmp_path / CHUNKS).exists()
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert len(rows) == 8
    assert seconds <= {row["seconds"] for row in rows}  # those chunks were not computed again


@pytest.mark.parametrize("package", ["matplotlib", "polars", "joblib"])
def test_missing_extras_are_told_before_simulating(package, tmp_path):
    (tmp_path / f"{package}.py").write_text(f"raise ImportError('no {package}')")
    out = tmp_path / "out"
    result = _command("reproduce", "meta", "--out", str(out), PYTHONPATH=str(tmp_path))
    assert result.returncode == 2
    assert f"this command needs {package}" in result.stderr
    assert "pip install 'hierbandits[all]'" in result.stderr
    assert not out.exists()


def test_a_folder_that_cannot_be_is_told_before_simulating(tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", Path("/proc/x")):
        result = _command("reproduce", "meta", "--out", str(place))
        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1
        assert f"--out must be a folder that can be written, got {place}: " in result.stderr


def test_a_prior_that_is_none_is_named(tmp_path):
    path = tmp_path / "[bad].json"
    for content in ("{", "[]", "{}"):
        path.write_text(content)
        result = _command("bound", "--prior", str(path))
        assert result.returncode == 2
        assert f"--prior must be a file with a hierarchy as JSON, got {path}: " in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_the_bound_command_prints_every_term(tmp_path):
    from hierbandits import GaussianHierarchy, bounds

    prior = GaussianHierarchy.armed(3, hyper_std=0.7, task_std=0.2, noise_std=0.5)
    (tmp_path / "prior.json").write_text(json.dumps(prior.to_dict()))
    result = _command(
        "bound", "--prior", str(tmp_path / "prior.json"), "--tasks", "20", "--concurrent", "4"
    )
    assert result.returncode == 0, result.stderr
    shown = {line.split()[0]: line.split()[1:3] for line in result.stdout.splitlines() if line}
    for place, constants in enumerate(("repaired", "paper")):
        bound = bounds.concurrent(prior, 20, 200, 4, constants=constants)
        for name in ("total", "task_regret", "hyper_regret", "concurrency_regret", "c4"):
            assert float(shown[name][place]) == pytest.approx(getattr(bound, name), rel=1e-3)
        alone = bounds.independent(prior, 20, 200, constants=constants).total
        assert float(shown["TS"][place]) == pytest.approx(alone, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "nope"], "EXPERIMENT must be one of synthetic"),
        (["reproduce", "meta", "--runs", "1"], "Invalid value for '--runs'"),
        (["reproduce", "meta", "--runs", "many"], "Invalid value for '--runs'"),
        (["unknown"], "No such command"),
        (["bound", "--concurrent", "20", "--eta", "1"], "num_concurrent must be at most"),
        (["bound", "--task-std", "0"], "task_std must be positive for every feature"),
        (["bound", "--prior", "nowhere.json"], "No such file"),
        (["bound", "--hyper-std", "-1"], "Invalid value for '--hyper-std'"),
        (["bound", "--task-std", "-1"], "Invalid value for '--task-std'"),
        (["bound", "--noise-std", "-1"], "Invalid value for '--noise-std'"),
        (["reproduce", "meta", "--data", "x"], "--data is for the experiment digits alone"),
        (["reproduce", "meta", "--dataset", "x"], "--dataset is for the experiment digits alone"),
        (["reproduce", "meta", "--digit", "0"], "--digit is for the experiment digits alone"),
    ],
)
def test_bad_commands_say_what_was_expected(arguments, message):
    result = _command(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
