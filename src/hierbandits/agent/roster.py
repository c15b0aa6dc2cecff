"""The tasks that an agent has met, by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.beliefs.posterior import Posterior
from hierbandits.types import Name, TaskName


@dataclass(slots=True, eq=False)
class Member:
    """A task, or a group of tasks, and its node in the belief."""

    task: TaskName
    node: int
    decisions: int = 0
    rewards: int = 0


class Roster:
    """Finds the node of a task by its path of names, and adds those that are new.

    A path has one name for each level below the root.  A belief with fewer levels than that
    (one of independent or of pooled tasks) needs no groups.
    """

    def __init__(self, belief: Posterior, path_length: int) -> None:
        self.belief = belief
        self._path_length = path_length
        self._members: dict[tuple[Name, ...], Member] = {}

    def __iter__(self) -> Iterator[Member]:
        """The tasks, in the order they were met; not the groups."""
        return (m for path, m in self._members.items() if len(path) == self._path_length)

    def path(self, task: TaskName) -> tuple[Name, ...]:
        """The names that lead to a task, checked."""
        if self._path_length == 1 and type(task) in (str, int):
            return (task,)  # type: ignore[return-value]
        path = task if isinstance(task, tuple) else (task,)
        path = tuple(n.item() if isinstance(n, np.integer) else n for n in path)
        wrong = any(isinstance(name, bool) or not isinstance(name, str | int) for name in path)
        if wrong or len(path) != self._path_length:
            kind = "a string or an integer"
            if self._path_length > 1:
                kind = f"a tuple of {self._path_length} strings or integers"
            raise ValueError(f"task must be {kind}, got {task!r:.80}")
        return path

    def known(self, task: TaskName) -> Member:
        """A task that was met before."""
        path = self.path(task)
        if path not in self._members:
            raise ValueError(f"task must be one that the agent has met, got {task!r:.80}")
        return self._members[path]

    def met(self, path: tuple[Name, ...]) -> Member:
        """The task or group of this path, added if it is new."""
        member = self._members.get(path)
        if member is None:
            belief = self.belief
            node = int(belief.roots[0])
            if belief.num_levels > 2 and len(path) > 1:
                node = self.met(path[:-1]).node
            if belief.num_levels > 1:
                node = int(belief.add(node)[0])
            member = Member(path[0] if len(path) == 1 else path, node)
            self._members[path] = member
        return member

    def state(self) -> list[Any]:
        """All members as plain data."""
        return [
            [list(path), member.node, member.decisions, member.rewards]
            for path, member in self._members.items()
        ]

    def restore(self, state: list[Any]) -> None:
        """Take over the members that `state` listed."""
        for names, *counts in state:
            path = tuple(names)
            task = path[0] if len(path) == 1 else path
            self._members[path] = Member(task, *counts)
        self.belief.checked_nodes([member.node for member in self._members.values()])  # checks them
