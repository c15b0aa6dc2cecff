"""The bookkeeper: checks, then the journal, then the change."""

from threading import RLock

import pytest
from support.agent_lives import DEEP_ARMED, UNEVEN
from support.agents import Clock

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.journal import Journal
from hierbandits.policies.recipes import POLICIES


def _books(prior, journal):
    state = AgentState(prior, POLICIES["HierTS"], None, None)
    return Bookkeeper(state, Journal(journal), Clock(), RLock())


def test_an_event_is_written_before_it_happens():
    seen = []
    books = _books(UNEVEN, lambda event: seen.append((event, len(books.held.roster))))
    books.learn(["s", "t"], [0, 2], [1.0, 2.0])
    books.add_arm("x", None, None, 0.5)
    books.retire_arm(1)
    books.forget("s")
    (learned, met), (added, _), (retired, _), (forgot, left) = seen
    assert met == 0
    assert left == 2
    base = {"version": 1, "history": books.state.history, "time": 1000.0}
    assert learned == base | {
        "number": 0, "kind": "learn", "tasks": ["s", "t"], "arms": [0, 2], "features": None,
        "rewards": [1.0, 2.0],
    }  # fmt: skip
    assert added == base | {
        "number": 1, "kind": "add_arm", "name": "x", "hyper_mean": None, "hyper_std": None,
        "task_std": 0.5,
    }  # fmt: skip
    assert retired == base | {"number": 2, "kind": "retire_arm", "name": 1}
    assert forgot == base | {"number": 3, "kind": "forget", "task": "s"}
    assert books.state.num_events == 4


def test_paths_are_lists_in_events():
    seen = []
    books = _books(DEEP_ARMED, seen.append)
    books.learn([("n", 1)], [0], [1.0])
    books.forget(("n", 1))
    assert seen[0]["tasks"] == [["n", 1]]
    assert seen[1]["task"] == ["n", 1]
    with pytest.raises(ValueError, match="task must be a tuple of 2 strings or integers"):
        books.paths(["n"])
