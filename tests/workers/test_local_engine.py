"""Work on this machine: in this process, or in several."""

import os

import pytest
from support.cluster_checks import process_of
from support.lost_workers import DeadlySquare, refused

from hierbandits.workers.local_engine import finished_here


def test_one_job_works_here_and_in_order():
    assert list(finished_here(process_of, "ab")) == [(0, os.getpid()), (1, os.getpid())]
    assert list(finished_here(DeadlySquare("", -1), range(4))) == [(0, 0), (1, 1), (2, 4), (3, 9)]


def test_one_item_starts_no_process():
    assert list(finished_here(process_of, [1], jobs=2)) == [(0, os.getpid())]


def test_several_jobs_work_elsewhere():
    found = dict(finished_here(process_of, range(4), jobs=2))
    assert found.keys() == {0, 1, 2, 3}
    assert os.getpid() not in found.values()
    assert dict(finished_here(DeadlySquare("", -1), range(3), jobs=2)) == {0: 0, 1: 1, 2: 4}


def test_work_starts_when_it_is_asked_for():
    first = next(finished_here(refused, [1, 2]))
    assert first == (0, 1)
    with pytest.raises(ValueError, match="number must not be 2"):
        list(finished_here(refused, [1, 2]))
