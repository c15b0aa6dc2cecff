"""What every back end must do, beside the same work in this process."""

import gc
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from hierbandits import Recipe, evaluate, learn_prior, simulate
from hierbandits.logs import Columns, Log
from hierbandits.models.variants import as_given
from hierbandits.simulation.schedules import Concurrent
from hierbandits.workers.backends import finished
from support.environments import ENVIRONMENTS
from support.lost_workers import DeadlyRule, DeadlySquare, refused


@contextmanager
def workers_find_tests():
    """Processes that are started meanwhile can import what is in tests/."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
        yield


def process_of(item):
    """The process that does the work."""
    return os.getpid()


def objects_set_aside(item):
    """How many objects the process that does the work keeps out of garbage collections."""
    return gc.get_freeze_count()


def check_work(backend):
    """Results have their places, and are made elsewhere; an error is the function's own."""
    squares = dict(finished(DeadlySquare("", -1), range(5), backend=backend))
    assert squares == {0: 0, 1: 1, 2: 4, 3: 9, 4: 16}
    assert os.getpid() not in {pid for _, pid in finished(process_of, range(3), backend=backend)}
    with pytest.raises(ValueError, match=r"^number must not be 2, got 2$"):
        list(finished(refused, range(4), backend=backend))
    assert list(finished(refused, [], backend=backend)) == []


def check_lost_worker(backend, folder):
    """A worker that is killed in the middle of its work costs nothing but time."""
    marker = Path(folder) / "a worker died"
    squares = dict(finished(DeadlySquare(str(marker), 3), range(6), backend=backend))
    assert marker.exists()
    assert squares == {number: number**2 for number in range(6)}


def check_study(backend, folder):
    """A study is the same bit for bit, also if a worker is killed in it, and tells its progress."""
    marker = Path(folder) / "a worker died in a study"
    marker.touch()
    policies = {"mine": Recipe(as_given, DeadlyRule(str(marker)), "deadly once")}

    def study(backend, tell):
        return simulate(
            ENVIRONMENTS["linear, arms per round"],
            policies,
            Concurrent(3),
            runs=430,
            seed=5,
            num_interactions=4,
            variance=True,
            backend=backend,
            progress=tell,
        )

    told = []
    here = study("local", False)
    marker.unlink()
    there = study(backend, lambda done, total: told.append((done, total)))
    assert marker.exists()
    one, other = here.outcomes["mine"], there.outcomes["mine"]
    for name in ("curve", "per_task", "variance", "explored"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert told[-1] == (430, 430)
    assert len(told) == 3


def sample_log(seed=3, num_rows=3000, num_tasks=12):
    """Columns of a log of three arms, drawn uniformly."""
    rng = np.random.default_rng(seed)
    tasks, arms = rng.integers(num_tasks, size=num_rows), rng.integers(3, size=num_rows)
    means = rng.normal([0.0, 0.5, 1.0], 0.4, (num_tasks, 3))
    return {
        "store": [f"store {task}" for task in tasks],
        "promo": [f"promo {arm}" for arm in arms],
        "revenue": means[tasks, arms] + rng.normal(0, 0.5, num_rows),
        "p": np.full(num_rows, 1 / 3),
    }


def check_learning(backend):
    """A learned prior and its report are the same bit for bit."""
    columns = {"task": "store", "reward": "revenue", "arm": "promo"}
    one, here = learn_prior(sample_log(), **columns, runs=20, horizon=10)
    other, there = learn_prior(sample_log(), **columns, runs=20, horizon=10, backend=backend)
    assert one.to_dict() == other.to_dict()
    assert here.to_dict() == there.to_dict()


def check_evaluation(backend):
    """An evaluation is the same bit for bit."""
    columns = {"task": "store", "reward": "revenue", "arm": "promo", "propensity": "p"}
    policies = ["best arm", "HierOPO", "frozen:HierTS", "HierTS", "TS"]
    here = evaluate(sample_log(), policies, **columns, folds=2)
    there = evaluate(sample_log(), policies, **columns, folds=2, backend=backend)
    assert here.to_dict() == there.to_dict()


def check_sums(backend, folder):
    """The sums of many files are the same bit for bit, and names in the same order."""
    frame = pl.DataFrame(sample_log())
    for place in range(5):
        frame[place::5].write_parquet(Path(folder) / f"{place}.parquet")
    log = Log.read(folder, Columns(task="store", reward="revenue", arm="promo"))
    far = Log.read(Path(folder).as_uri(), log.columns)  # as an Arrow dataset, as on object storage
    here = log.file_sums()
    for there in (log.file_sums(backend=backend), far.file_sums(backend=backend)):
        assert (here.tasks, here.arms, here.num_rows) == (there.tasks, there.arms, 3000)
        for name, values in here.sums.state().items():
            np.testing.assert_array_equal(values, there.sums.state()[name])
