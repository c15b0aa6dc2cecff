"""--backend: clusters that start for a command, with the same numbers, and refusals in one line."""

import json
import subprocess
import sys

import pytest
from support.processes import interrupted, left_of

SWEEP = ["sweep", "--runs", "210", "--interactions", "2", "--policy", "HierTS", "--json"]


def run(*arguments):
    """A command in a session of its own; all that it starts must end with it."""
    command = [sys.executable, "-m", "hierbandits", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    out, err = process.communicate(timeout=300)
    assert left_of(process.pid) == []
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_a_cluster_that_starts_for_a_command_gives_the_same_numbers(backend, tmp_path):
    package = {"ray": "ray", "dask": "distributed"}[backend]
    pytest.importorskip(package, reason=f"{package} is not installed")
    numbers = []
    for name in ("local", backend):
        own = ["--jobs", "1"] if name == "local" else []
        done = run(*SWEEP, *own, "--backend", name, "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        assert "distributed" not in done.stderr
        row = json.loads(done.stdout)["rows"][0]
        numbers.append({key: row[key] for key in row if key != "seconds"})
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_ctrl_c_ends_a_cluster_that_started_for_a_command(backend, tmp_path):
    package = {"ray": "ray", "dask": "distributed"}[backend]
    pytest.importorskip(package, reason=f"{package} is not installed")
    options = ["--runs", "400000", "--interactions", "20", "--backend", backend]
    out = tmp_path / "out"
    status, told, left = interrupted(
        "sweep", *options, "--out", out, once=lambda: any(out.glob("*/*")), group=True
    )
    *earlier, word = told.splitlines()
    assert (status, word) == (130, "Interrupted: run the same command again to resume")
    assert left == []
    assert [line for line in earlier if "compiling kernels" not in line] == []


def test_ctrl_c_may_come_while_a_cluster_ends():
    code = """
from hierbandits.cli.backend_option import own_cluster
from hierbandits.cli.interruption import own_process
from hierbandits.workers.backends import ENGINES, Engine

def end(*, at_once):
    print("killed" if at_once else "closing", flush=True)
    if not at_once:
        raise KeyboardInterrupt

ENGINES["mine"] = Engine(abs, end, "mine", "mine")
own_process()
with own_cluster("mine"):
    print("worked", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "worked\nclosing\nkilled\n")
    assert done.stderr == "Aborted.\n"


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
