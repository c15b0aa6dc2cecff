"""A real Spark on this machine, where it is installed: the same numbers as in this process."""

import pytest
from support import cluster_checks

from hierbandits.workers.backends import end_own_cluster, finished

sql = pytest.importorskip("pyspark.sql", reason="pyspark, of 450 MB, is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster():
    builder = sql.SparkSession.builder.master("local[2,4]")
    with cluster_checks.workers_find_tests():
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield
        session.stop()


def test_work_is_done_by_workers():
    cluster_checks.check_work("spark")


def test_a_session_of_others_stays():
    end_own_cluster("spark")
    assert dict(finished(abs, [-1], backend="spark")) == {0: 1}


def test_workers_keep_what_is_loaded_out_of_garbage_collections():
    counts = dict(finished(cluster_checks.objects_set_aside, range(20), backend="spark"))
    assert max(counts.values()) > 10_000


def test_work_of_a_killed_worker_is_done_again(tmp_path):
    cluster_checks.check_lost_worker("spark", tmp_path)


def test_a_study_is_the_same_though_a_worker_is_killed(tmp_path):
    cluster_checks.check_study("spark", tmp_path)


def test_a_learned_prior_is_the_same():
    cluster_checks.check_learning("spark")


def test_an_evaluation_is_the_same():
    cluster_checks.check_evaluation("spark")


def test_sums_of_files_are_the_same(tmp_path):
    cluster_checks.check_sums("spark", tmp_path)
