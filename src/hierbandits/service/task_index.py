"""The tasks of a policy by name and by size, a page at a time, however many there are."""

import asyncio
from typing import Any

import numpy as np

from hierbandits.agent import Agent
from hierbandits.types import TaskName

CHUNK = 50_000
"""Tasks that are looked through before others are served: a few milliseconds."""

SORTS = ("oldest", "newest", "decisions")


class TaskIndex:
    """Remembers the names of tasks in small letters, so that they can be searched."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._tasks: list[TaskName] = []
        self._names: list[str] = []  # of these, in small letters

    async def page(
        self, search: str, sort: str, limit: int, offset: int
    ) -> tuple[int, list[TaskName]]:
        """How many tasks have names that contain a text, and some of them.

        Without a text or an order only the tasks of the page are touched.
        """
        agent = self._agent
        if not search and sort != "decisions":
            total = agent.num_tasks
            first = offset if sort == "oldest" else max(total - offset - limit, 0)
            last = first + limit if sort == "oldest" else max(total - offset, 0)
            found = agent.tasks_between(first, last)
            return total, found if sort == "oldest" else found[::-1]
        places = await self._found(search.lower())
        if sort == "newest":
            places = places[::-1]
        elif sort == "decisions":
            counts = await self._decisions()
            places = places[np.argsort(-counts[places], kind="stable")]
        chosen = places[offset : offset + limit].tolist()
        return places.size, [self._tasks[place] for place in chosen]

    async def _found(self, search: str) -> Any:
        """The places of tasks whose names contain a text."""
        agent = self._agent
        while len(self._names) < agent.num_tasks:
            size = len(self._names)
            more = agent.tasks_between(size, size + CHUNK)
            if size == len(self._names):  # nobody else read on meanwhile
                self._tasks += more
                self._names += [shown(task).lower() for task in more]
            await asyncio.sleep(0)
        if not search:
            return np.arange(len(self._names))
        found: list[int] = []
        for first in range(0, len(self._names), CHUNK):
            part = self._names[first : first + CHUNK]
            found += [first + i for i, name in enumerate(part) if search in name]
            await asyncio.sleep(0)
        return np.array(found, np.intp)

    async def _decisions(self) -> Any:
        counts: list[int] = []
        while len(counts) < len(self._names):
            counts += self._agent.decisions_between(len(counts), len(counts) + CHUNK)
            await asyncio.sleep(0)
        return np.array(counts)


def shown(task: TaskName) -> str:
    """A task as text: the names of a path with slashes between them."""
    return " / ".join(map(str, task)) if isinstance(task, tuple) else str(task)
