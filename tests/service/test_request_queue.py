import asyncio

import pytest

from hierbandits.service.api_problem import Problem
from hierbandits.service.request_queue import RequestQueue, answers_of, called


def test_all_that_wait_are_taken_together_and_each_is_told_its_own():
    async def scenario():
        queue = RequestQueue()
        futures = [queue.join(*one) for one in (("decide", 1), ("reward", 2), ("decide", 3))]
        assert len(queue) == 3
        served = []

        def serve(kind, requests):
            served.append((kind, list(requests)))
            return [KeyError(one) if one == 3 else 10 * one for one in requests]

        answers = answers_of(queue.take(), serve)
        assert served == [("decide", [1, 3]), ("reward", [2])]
        assert len(queue) == 0
        assert queue.unanswered == 3  # nobody was told
        queue.tell(answers)
        assert queue.unanswered == 0
        assert (await futures[0], await futures[1]) == (10, 20)
        with pytest.raises(KeyError):
            await futures[2]

    asyncio.run(scenario())


def test_who_has_gone_is_told_nothing_and_counts_no_more():
    async def scenario():
        queue = RequestQueue(1)
        future = queue.join("look", None)
        with pytest.raises(Problem, match="too many requests"):
            queue.join("look", None)
        future.cancel()
        queue.tell(answers_of(queue.take(), lambda kind, requests: [1]))
        assert queue.unanswered == 0
        assert future.cancelled()
        queue.join("look", None)  # there is room again

    asyncio.run(scenario())


def test_an_error_of_a_function_is_its_answer():
    assert called(lambda: 3) == 3
    assert isinstance(called(lambda: 1 / 0), ZeroDivisionError)
