"""A real Dask here: the same numbers as in this process, also when a worker is killed."""

import logging
import os
import signal

import pytest
from support import cluster_checks

from hierbandits.workers.backends import end_own_cluster, finished
from hierbandits.workers.dask_engine import started

distributed = pytest.importorskip("distributed", reason="distributed is not installed")


@pytest.fixture(scope="module", autouse=True)
def client():
    with started(n_workers=2, dashboard_address=":0") as client:
        yield client


def test_workers_that_start_here_are_not_slowed_down(client):
    trims = client.run(lambda: os.environ["MALLOC_TRIM_THRESHOLD_"])
    profiled = client.run(
        lambda: __import__("dask").config.get("distributed.worker.profile.enabled")
    )
    assert set(trims.values()) == {str(2**27)}
    assert set(profiled.values()) == {False}


def test_workers_that_start_here_hear_no_ctrl_c_and_tell_nothing_of_what_is_called_back(client):
    if hasattr(signal, "pthread_sigmask"):
        deaf = client.run(lambda: signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
        assert set(deaf.values()) == {True}
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    name = "distributed.worker.state_machine"
    levels = client.run(lambda: logging.getLogger(name).level)
    assert set(levels.values()) == {logging.ERROR}


def test_a_call_that_ctrl_c_ends_is_no_news(client, caplog):
    log = logging.getLogger("tornado.application")
    log.error("Exception in callback %r", "<function sync.<locals>.cancel at 0x7f>")
    log.error("something else")
    assert [record.getMessage() for record in caplog.records] == ["something else"]


@pytest.mark.parametrize("at_once", [True, False])
def test_a_cluster_of_others_stays(at_once, client):
    before = client.run(os.getpid)
    assert dict(finished(abs, [-1], backend="dask")) == {0: 1}
    end_own_cluster("dask", at_once=at_once)
    assert client.status == "running"
    assert client.run(os.getpid) == before


def test_a_scheduler_that_is_configured_is_asked_and_stays(client):
    """DASK_SCHEDULER_ADDRESS, which takes no options for workers."""
    import dask

    with dask.config.set({"scheduler-address": client.scheduler.address}):
        other = started(dashboard_address=":0", set_as_default=True)
    assert other.cluster is None
    assert other.scheduler.address == client.scheduler.address
    other.close()
    assert len(client.nthreads()) == 2


def test_work_is_done_by_workers():
    cluster_checks.check_work("dask")


def test_work_of_a_killed_worker_is_done_again(tmp_path):
    cluster_checks.check_lost_worker("dask", tmp_path)


def test_a_study_is_the_same_though_a_worker_is_killed(tmp_path):
    cluster_checks.check_study("dask", tmp_path)


def test_a_learned_prior_is_the_same():
    cluster_checks.check_learning("dask")


def test_an_evaluation_is_the_same():
    cluster_checks.check_evaluation("dask")


def test_sums_of_files_are_the_same(tmp_path):
    cluster_checks.check_sums("dask", tmp_path)
