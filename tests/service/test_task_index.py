import asyncio

import pytest

from hierbandits import Agent
from hierbandits.service import task_index
from hierbandits.service.task_index import TaskIndex, shown

NAMES = [f"City {n:02d}" for n in range(40)]


@pytest.fixture
def agent():
    agent = Agent(arms=["a", "b"], seed=0)
    for number, name in enumerate(NAMES):
        agent.decide_many([name] * (1 + number % 7))
    return agent


def page(agent, search="", sort="oldest", limit=5, offset=0):
    return asyncio.run(TaskIndex(agent).page(search, sort, limit, offset))


def test_pages_follow_each_other_in_each_order(agent):
    counts = dict(zip(NAMES, agent.decisions_between(0, 40), strict=True))
    orders = {
        "oldest": NAMES,
        "newest": NAMES[::-1],
        "decisions": sorted(NAMES, key=lambda name: -counts[name]),
    }
    for sort, names in orders.items():
        found = [page(agent, sort=sort, limit=7, offset=offset) for offset in range(0, 49, 7)]
        assert {total for total, _ in found} == {40}
        assert [name for _, part in found for name in part] == names


def test_names_are_found_in_any_case(agent, monkeypatch):
    monkeypatch.setattr(task_index, "CHUNK", 3)
    assert page(agent, "CITY 3", limit=3) == (10, ["City 30", "City 31", "City 32"])
    assert page(agent, "city 3", "newest", limit=2) == (10, ["City 39", "City 38"])
    assert page(agent, "y 3", "decisions", limit=1)[1] == ["City 34"]
    assert page(agent, "nowhere") == (0, [])


def test_tasks_that_come_later_are_found_too(agent):
    index = TaskIndex(agent)
    assert asyncio.run(index.page("late", "oldest", 5, 0)) == (0, [])
    agent.decide("too late")
    assert asyncio.run(index.page("late", "oldest", 5, 0)) == (1, ["too late"])


def test_without_a_search_only_the_page_is_touched(agent, monkeypatch):
    asked = []
    between = Agent.tasks_between
    monkeypatch.setattr(
        Agent, "tasks_between", lambda self, *ends: asked.append(ends) or between(self, *ends)
    )
    page(agent, limit=5, offset=10)
    page(agent, sort="newest", limit=5, offset=10)
    assert asked == [(10, 15), (25, 30)]


def test_paths_are_text_with_slashes():
    assert shown(("north", 17)) == "north / 17"
    assert shown(3) == "3"
