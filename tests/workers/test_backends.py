"""Back ends by name: who is known, what each needs, and what is refused before any work."""

import logging
import subprocess
import sys

import pytest
from support.environments import ENVIRONMENTS

from hierbandits import evaluate, learn_prior, simulate, sweep
from hierbandits.simulation.schedules import Federated
from hierbandits.workers.backends import (
    BACKENDS,
    ENGINES,
    Engine,
    checked_backend,
    end_own_cluster,
    finished,
    in_order,
)


def test_the_back_ends():
    assert BACKENDS == ("local", "ray", "dask", "spark")
    assert checked_backend("local", jobs=-1) == "local"


@pytest.mark.parametrize("backend", ["Ray", None])
def test_an_unknown_back_end_is_refused_by_everybody(backend):
    world, log = ENVIRONMENTS["armed"], {"s": ["a", "b"], "a": ["x", "y"], "y": [1.0, 2.0]}
    columns = {"task": "s", "arm": "a", "reward": "y"}
    for work in (
        lambda: simulate(world, ["TS"], Federated(), runs=2, backend=backend),
        lambda: sweep({"w": world}, ["TS"], runs=2, backend=backend),
        lambda: learn_prior(log, **columns, backend=backend),
        lambda: evaluate(log, **columns, backend=backend),
    ):
        with pytest.raises(ValueError, match="backend must be one of local, ray, dask, spark, got"):
            work()


def test_a_cluster_has_its_own_number_of_workers():
    with pytest.raises(ValueError, match=r"jobs must be 1 with backend='ray'.*got 2"):
        simulate(ENVIRONMENTS["armed"], ["TS"], Federated(), runs=2, backend="ray", jobs=2)


@pytest.mark.parametrize(
    ("backend", "package", "extra"),
    [("ray", "ray", "ray"), ("dask", "distributed", "dask"), ("spark", "pyspark", "spark")],
)
def test_a_missing_package_is_named_with_what_installs_it(backend, package, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(
        ImportError, match=rf"backend='{backend}' needs the package {package}.*"
    ) as e:
        finished(abs, [1], backend=backend)
    assert f"pip install 'hierbandits[{extra}]'" in str(e.value)


def test_results_are_in_the_order_of_the_items():
    told = []
    assert in_order(abs, [-3, 2, -1], with_each=lambda: told.append(1)) == [3, 2, 1]
    assert len(told) == 3


def test_no_engine_is_imported_for_local_work():
    code = (
        "import sys, hierbandits, hierbandits.workers.backends as b; list(b.finished(abs, [1]));"
        "print({'ray', 'distributed', 'pyspark', 'joblib', 'fsspec'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("at_once", [True, False])
def test_nobody_logs_anything_while_a_cluster_ends(at_once, monkeypatch, caplog):
    told = []

    def end(*, at_once):
        told.append(at_once)
        logging.getLogger("an engine").critical("a worker is gone")
        raise ConnectionError

    monkeypatch.setitem(ENGINES, "mine", Engine(abs, end, "mine", "mine"))
    with pytest.raises(ConnectionError):
        end_own_cluster("mine", at_once=at_once)
    assert (told, caplog.text) == ([at_once], "")
    logging.getLogger("an engine").warning("heard again")
    assert "heard again" in caplog.text


def test_nothing_has_started_for_local_work_or_without_any():
    for backend in ("local", "ray", "dask", "spark"):
        for at_once in (False, True):
            end_own_cluster(backend, at_once=at_once)
