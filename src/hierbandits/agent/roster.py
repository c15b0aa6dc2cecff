"""The tasks that an agent has met, by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.beliefs.posterior import Posterior
from hierbandits.types import Name, TaskName


@dataclass(slots=True, eq=False)
class Member:
    """A task, or a group of tasks, with its node in the belief and its counts."""

    task: TaskName
    node: int
    decisions: int = 0
    rewards: int = 0


class Roster:
    """Finds the node of a task by its path of names, and adds nodes for new tasks and groups.

    A path has one name for each level below the root.  A belief of fewer levels, in which tasks
    are independent or pooled, needs no groups.
    """

    def __init__(self, belief: Posterior, path_length: int) -> None:
        self._belief = belief
        self._path_length = path_length
        self._members: dict[tuple[Name, ...], Member] = {}

    def __iter__(self) -> Iterator[Member]:
        """The tasks in the order in which they were met, without their groups."""
        return (m for path, m in self._members.items() if len(path) == self._path_length)

    def checked_path(self, task: TaskName) -> tuple[Name, ...]:
        """The names that lead to a task."""
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

    def find(self, task: TaskName) -> Member:
        """A task that was met before; any other is refused."""
        path = self.checked_path(task)
        if path not in self._members:
            raise ValueError(f"task must be one that the agent has met, got {task!r:.80}")
        return self._members[path]

    def meet(self, path: tuple[Name, ...]) -> Member:
        """The task or group at the end of a path; if it is new, it gets a node."""
        member = self._members.get(path)
        if member is None:
            belief = self._belief
            node = int(belief.roots[0])
            if belief.num_levels > 2 and len(path) > 1:
                node = self.meet(path[:-1]).node
            if belief.num_levels > 1:
                node = int(belief.add(node)[0])
            member = Member(_task_name(path), node)
            self._members[path] = member
        return member

    def state(self) -> list[Any]:
        """All tasks and groups as plain data."""
        return [
            [list(path), member.node, member.decisions, member.rewards]
            for path, member in self._members.items()
        ]

    @classmethod
    def from_state(cls, belief: Posterior, path_length: int, state: list[Any]) -> "Roster":
        """The roster that `state` described; nodes that the belief does not have are refused."""
        roster = cls(belief, path_length)
        for names, *counts in state:
            path = tuple(names)
            roster._members[path] = Member(_task_name(path), *counts)
        belief.checked_nodes([member.node for member in roster._members.values()])
        return roster


def _task_name(path: tuple[Name, ...]) -> TaskName:
    return path[0] if len(path) == 1 else path
