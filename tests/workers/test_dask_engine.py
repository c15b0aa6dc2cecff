"""A real Dask here: the same numbers as in this process, also when a worker is killed."""

import pytest
from support import cluster_checks

distributed = pytest.importorskip("distributed", reason="distributed is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster),
    ):
        yield


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
