"""--backend: clusters that start for a command, with the same numbers, and refusals in one line."""

import json
import subprocess
import sys

import pytest

SWEEP = ["sweep", "--runs", "210", "--interactions", "2", "--policy", "HierTS", "--json"]


def run(*arguments):
    command = [sys.executable, "-m", "hierbandits", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_a_cluster_that_starts_for_a_command_gives_the_same_numbers(backend, tmp_path):
    package = {"ray": "ray", "dask": "distributed"}[backend]
    pytest.importorskip(package, reason=f"{package} is not installed")
    numbers = []
    for name in ("local", backend):
        own = ["--jobs", "1"] if name == "local" else []
        done = run(*SWEEP, *own, "--backend", name, "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        row = json.loads(done.stdout)["rows"][0]
        numbers.append({key: row[key] for key in row if key != "seconds"})
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--backend", "slurm"], "--backend must be one of local, ray, dask, spark, got 'slurm'"),
        (["--backend", "dask", "--jobs", "2"], "--jobs must not be given with --backend dask"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(options, told, tmp_path):
    done = run(*SWEEP, *options, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
