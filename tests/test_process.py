"""How the package behaves as a process: light to import, compiled once, content with any cache."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hierbandits

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


@pytest.mark.parametrize("arguments", [["--version"], ["policies"], ["--help"], ["demo", "--help"]])
def test_commands_answer(arguments):
    command = Path(sys.executable).with_name("hierbandits")
    result = subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0
    assert result.stderr == ""
    assert "hierbandits" in result.stdout or "HierTS" in result.stdout


def test_the_demo_shows_a_table_and_a_plot(tmp_path):
    command = [Path(sys.executable).with_name("hierbandits"), "demo", "--runs", "40"]
    command += ["--rounds", "30", "--out", str(tmp_path)]
    results = [subprocess.run(command, capture_output=True, text=True, timeout=300) for _ in "12"]
    assert results[0].returncode == 0, results[0].stderr
    assert results[0].stdout == results[1].stdout  # same seed, same numbers
    rows = {line.split()[0]: line.split() for line in results[0].stdout.splitlines() if line}
    assert float(rows["OracleTS"][1]) < float(rows["HierTS"][1]) < float(rows["TS"][1])
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    assert (tmp_path / "regret.svg").read_text().startswith("<?xml")
