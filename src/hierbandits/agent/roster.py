"""The tasks that an agent has met, by name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from hierbandits.beliefs.node_size import numbers_per_node
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.same_model import parents_of
from hierbandits.checks import count, plain_name
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.types import Indices, Name, TaskName


@dataclass(slots=True, eq=False)
class Member:
    """A task: its node in the belief, its row in the agent's sums, and its decisions."""

    task: TaskName
    node: int
    row: int
    decisions: int = 0
    best: int = 0  # those of them that did not explore


class Roster:
    """Finds a task by its path of names, and adds nodes for new tasks and groups.

    A path has one name for each level below the root.  A belief of fewer levels, in which tasks
    are independent or pooled, needs no groups.  Rows count the tasks from 0.
    """

    def __init__(self, belief: Posterior, path_length: int, limits: Limits = LIMITS) -> None:
        self._belief = belief
        self.path_length = path_length
        self._limits = limits
        self._members: dict[tuple[Name, ...], Member] = {}
        self._groups: dict[tuple[Name, ...], int] = {}  # the node of each

    def __iter__(self) -> Iterator[Member]:
        """The tasks in the order in which they were met."""
        return iter(self._members.values())

    def __len__(self) -> int:
        """The number of tasks."""
        return len(self._members)

    def between(self, first: int, last: int) -> list[Member]:
        """Those from one row up to another, in the order in which they were met."""
        members = self._members.values()
        last = min(last, len(members))
        if first >= last:
            return []
        if len(members) - first < first:  # from the end, which is nearer
            back = islice(reversed(members), len(members) - last, len(members) - first)
            return list(back)[::-1]
        return list(islice(members, first, last))

    def groups(self, most: int) -> dict[tuple[Name, ...], int]:
        """The nodes of groups by their paths, upper levels first, so many of a level at most."""
        found: dict[tuple[Name, ...], int] = {}
        for length in range(1, self.path_length):
            found |= islice((one for one in self._groups.items() if len(one[0]) == length), most)
        return found

    def nodes(self) -> Indices:
        """The node of each task, in the order of rows."""
        return np.array([member.node for member in self._members.values()], np.intp)

    def rows_of(self, paths: Sequence[tuple[Name, ...]]) -> Indices:
        """The row of each of these tasks."""
        place = {path: row for row, path in enumerate(self._members)}
        return np.array([place[path] for path in paths], np.intp)

    def checked_path(self, task: TaskName) -> tuple[Name, ...]:
        """The names that lead to a task."""
        if (type(task) is str or type(task) is int) and (task,) in self._members:
            return (task,)  # checked when it was met
        path: list[Name] = []
        for part in task if isinstance(task, tuple) else (task,):
            name = plain_name(part)
            if name is not None:
                path.append(name)
        given = len(task) if isinstance(task, tuple) else 1
        if not len(path) == given == self.path_length:
            kind = "a string or an integer"
            if self.path_length > 1:
                kind = f"a tuple of {self.path_length} strings or integers"
            raise ValueError(f"task must be {kind}, got {task!r:.80}")
        self._limits.check_names("task", path)
        return tuple(path)

    def check_room(self, paths: Sequence[tuple[Name, ...]]) -> None:
        """Raise an error if there is no room for all of these tasks that are new."""
        belief, each = self._belief, numbers_per_node(self._belief)
        if len(self._members) + len(paths) > self._limits.most_tasks(each):
            number = len(self._members) + len(set(paths) - self._members.keys())
            self._limits.check_table(number, belief.dim, each, armed=belief.is_armed)

    def known(self, task: TaskName) -> Member | None:
        """A task that was met before, if its path is a single name; otherwise None."""
        return self._members.get((task,)) if type(task) is str or type(task) is int else None

    def has(self, task: TaskName) -> bool:
        """Whether a task was met, whatever is asked about."""
        return (task if isinstance(task, tuple) else (task,)) in self._members

    def find(self, task: TaskName) -> Member:
        """A task that was met before; any other is refused."""
        path = self.checked_path(task)
        if path not in self._members:
            raise ValueError(f"task must be one that the agent has met, got {task!r:.80}")
        return self._members[path]

    def meet(self, path: tuple[Name, ...]) -> Member:
        """The task at the end of a path; if it is new, it gets a node and a row."""
        member = self._members.get(path)
        if member is None:
            self.check_room([path])
            member = Member(_task_name(path), self._new_node(path), len(self._members))
            self._members[path] = member
        return member

    def meet_all(self, paths: Sequence[tuple[Name, ...]]) -> list[Member]:
        """`meet` of each; where tasks need no groups, all new ones get their nodes at once."""
        members, belief = self._members, self._belief
        if belief.num_levels == 2:
            new = [path for path in dict.fromkeys(paths) if path not in members]
            if len(new) > 1:
                self.check_room(new)
                nodes = belief.add(int(belief.roots[0]), len(new)).tolist()
                for path, node in zip(new, nodes, strict=True):
                    members[path] = Member(_task_name(path), node, len(members))
        return [self.meet(path) for path in paths]

    def _new_node(self, path: tuple[Name, ...]) -> int:
        """A node for a task or group, below that of its group."""
        belief = self._belief
        parent = int(belief.roots[0])
        if belief.num_levels > 2 and len(path) > 1:
            above = path[:-1]
            if above not in self._groups:
                self._groups[above] = self._new_node(above)
            parent = self._groups[above]
        return parent if belief.num_levels == 1 else int(belief.add(parent)[0])

    def unmeet(self, size: int, num_nodes: int) -> None:
        """Undo the latest meetings, of which nothing was learned: so much is left."""
        while len(self._members) > size:
            self._members.popitem()
        while self._groups and next(reversed(self._groups.values())) >= num_nodes:
            self._groups.popitem()
        self._belief._raw_remove_newest(self._belief.num_nodes - num_nodes)

    def without(self, task: TaskName) -> "Roster":
        """The other tasks; `moved_to` finds places for them."""
        dropped = self.checked_path(task)
        left = {path: member for path, member in self._members.items() if path != dropped}
        return self._with_members(left, self._belief)

    def with_tasks(self, paths: Sequence[tuple[Name, ...]]) -> "Roster":
        """These tasks too, in the last rows; `moved_to` finds places for them."""
        known = self._members
        new = [path for path in dict.fromkeys(paths) if path not in known]
        more = known | {path: Member(_task_name(path), -1, -1) for path in new}
        return self._with_members(more, self._belief)

    def moved_to(self, belief: Posterior) -> tuple["Roster", Indices]:
        """The same tasks in a new belief, and the node of each there, which no member has yet."""
        moved = self._with_members(self._members.copy(), belief)
        return moved, np.array([moved._new_node(path) for path in moved._members], np.intp)

    def _with_members(self, members: dict[tuple[Name, ...], Member], belief: Posterior) -> "Roster":
        """These tasks, and no group yet."""
        roster = Roster(belief, self.path_length, self._limits)
        roster._members = members
        return roster

    def state(self) -> dict[str, Any]:
        """All tasks and groups as plain data."""
        return {
            "tasks": [
                [list(path), member.node, member.decisions, member.best]
                for path, member in self._members.items()
            ],
            "groups": [[list(path), node] for path, node in self._groups.items()],
        }

    @classmethod
    def from_state(
        cls, belief: Posterior, path_length: int, state: dict[str, Any], limits: Limits = LIMITS
    ) -> "Roster":
        """The roster that `state` described, checked: who is named has a node of its own."""
        roster = cls(belief, path_length, limits)
        for row, (names, node, decisions, best) in enumerate(state["tasks"]):
            path = roster.checked_path(_task_name(tuple(names)))
            best = count("best", best)
            decided = count("decisions", decisions, least=best)
            roster._members[path] = Member(_task_name(path), node, row, decided, best)
        for names, node in state["groups"]:
            roster._groups[_checked_group(names, path_length)] = node
        if len(roster._members) < len(state["tasks"]) or len(roster._groups) < len(state["groups"]):
            raise ValueError("tasks and groups must have different names")
        roster._check_nodes()
        return roster

    def _check_nodes(self) -> None:
        """Raise an error unless each task has a leaf of its own, below the node of its group."""
        belief, groups = self._belief, self._groups
        root = int(belief.roots[0])
        nodes = belief.checked_nodes([member.node for member in self])
        own = belief.checked_nodes([*groups.values(), *([] if belief.num_levels == 1 else nodes)])
        if np.unique(own).size < own.size:
            raise ValueError("tasks and groups must have different nodes")
        belief._raw_check_leaves(nodes)
        deep = belief.num_levels > 2 and self.path_length > 1
        paths = [*groups, *self._members] if belief.num_levels > 1 else []
        above = [groups[path[:-1]] if deep and len(path) > 1 else root for path in paths]
        if parents_of(belief, own).tolist() != above or (groups and not deep):
            raise ValueError("tasks must have nodes below those of their groups")


def _task_name(path: tuple[Name, ...]) -> TaskName:
    return path[0] if len(path) == 1 else path


def _checked_group(names: Any, path_length: int) -> tuple[Name, ...]:
    """The path of a group, shorter than that of a task."""
    path = tuple(plain_name(name) for name in names)
    if not 0 < len(path) < path_length or None in path:
        raise ValueError(f"groups must have paths of names above tasks, got {names!r:.80}")
    return tuple(name for name in path if name is not None)
