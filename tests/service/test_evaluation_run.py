"""The process of one evaluation answers in time, or is killed; it leaves nothing."""

import asyncio
import os

import pytest
from support.logged_worlds import LoggedWorld
from support.processes import processes_of

from hierbandits.service.api_problem import Problem
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_run import evaluation_answer


@pytest.mark.parametrize(
    ("patience", "policy", "status"),
    [(60.0, "shop", None), (60.0, "none", 404), (0.1, "shop", 504)],
)
def test_an_answer_or_a_problem_and_nothing_is_left(tmp_path, patience, policy, status):
    world = LoggedWorld(tmp_path / "data", rounds=5)
    order, before = world.order(tmp_path / "scratch"), processes_of(os.getpid())
    order.policy, order.scratch = policy, str(tmp_path / "files")

    async def asked():
        return await evaluation_answer(order, DataPlace(world.folder), patience)

    if status == 504:
        with pytest.raises(Problem, match=r"must take at most 0\.1 seconds"):
            asyncio.run(asked())
    else:
        answer = asyncio.run(asked())
        assert (answer.findings is None, answer.problem and answer.problem.status) == (
            status is not None,
            status,
        )
    world.close()
    assert processes_of(os.getpid()) <= before
    assert not (tmp_path / "files").exists()
