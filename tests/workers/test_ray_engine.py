"""A real Ray here: the same numbers as in this process, also when a worker is killed."""

import pytest
from support import cluster_checks

from hierbandits.workers.backends import end_own_cluster, finished

ray = pytest.importorskip("ray", reason="ray is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with cluster_checks.workers_find_tests():
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=100_000_000,
        )
        yield
        ray.shutdown()


@pytest.mark.parametrize("at_once", [True, False])
def test_a_cluster_of_others_stays(at_once):
    end_own_cluster("ray", at_once=at_once)
    assert ray.is_initialized()
    assert dict(finished(abs, [-1], backend="ray")) == {0: 1}


def test_work_is_done_by_workers():
    cluster_checks.check_work("ray")


def test_work_of_a_killed_worker_is_done_again(tmp_path):
    cluster_checks.check_lost_worker("ray", tmp_path)


def test_a_study_is_the_same_though_a_worker_is_killed(tmp_path):
    cluster_checks.check_study("ray", tmp_path)


def test_a_learned_prior_is_the_same():
    cluster_checks.check_learning("ray")


def test_an_evaluation_is_the_same():
    cluster_checks.check_evaluation("ray")


def test_sums_of_files_are_the_same(tmp_path):
    cluster_checks.check_sums("ray", tmp_path)
