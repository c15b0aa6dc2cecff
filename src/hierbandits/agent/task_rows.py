"""The rows of a file of tasks: which task each is for, and which arms it may play."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.batch_table import column_of
from hierbandits.agent.catalogue import Catalogue
from hierbandits.logs.batch_reader import SEPARATOR
from hierbandits.logs.cells import as_lists, as_names, tidied
from hierbandits.logs.reading import AS_IT_IS
from hierbandits.types import Matrix, Name, TaskName

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class TaskRows:
    """The task of each row, and the arms that it may play; None for all of the agent's.

    Where the agent has an encoder, each row has a context.
    """

    tasks: list[TaskName]
    arms: list[Any] | None
    cells: Matrix | None  # (rows, columns) of the encoder

    @classmethod
    def of(
        cls,
        frame: "pl.DataFrame",
        state: AgentState,
        columns: Sequence[str],
        eligible: str | None,
        *,
        is_text: bool,
    ) -> "TaskRows":
        """Read a table; names are spelt as the agent spells them.

        A task with a path has a column for each of its names.
        """
        if len(columns) != state.roster.path_length:
            raise ValueError(
                f"task must name {state.roster.path_length} columns, as the agent's tasks have so "
                f"many names, got {list(columns)!r:.80}"
            )
        if frame.height == 0:
            raise ValueError("tasks must have at least one row, got none")
        rows = range(frame.height)
        parts = []
        for level, name in enumerate(columns):
            cells = as_names("task", column_of("task", frame, name), rows)
            parts.append(_spelt(cells.to_list(), _names_at(state, level)))
        tasks: list[Any] = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        encoder, contexts = state.catalogue.encoder, None
        if encoder is not None:
            tidy = tidied(frame, AS_IT_IS, is_text)
            contexts = encoder.cells(tidy, rows, "." if is_text else None)
        if eligible is None:
            return cls(tasks, None, contexts)
        cells = column_of("eligible", frame, eligible)
        if is_text:
            cells = cells.str.split(SEPARATOR)
        lists = as_lists("eligible", cells, rows).to_list()
        names = {*(state.catalogue.all_names or ())}
        arms = [_spelt(arms, names) if _are_names(arms) else arms for arms in lists]
        return cls(tasks, arms, contexts)

    def offers(self, catalogue: Catalogue, part: slice) -> list[Any] | None:
        """What some rows may play, as `decide_many` takes it."""
        arms = None if self.arms is None else self.arms[part]
        return arms if self.cells is None else catalogue.offers(self.cells[part], arms)

    def described(self) -> Iterator[Any]:
        """Each row as plain data, for a digest."""
        for row, task in enumerate(self.tasks):
            arms = None if self.arms is None else self.arms[row]
            context = () if self.cells is None else (self.cells[row].tolist(),)
            yield task, arms, *context


def _names_at(state: AgentState, level: int) -> set[Name]:
    """The names that an agent's tasks have at a place of their paths."""
    tasks = (member.task for member in state.roster)
    return {task[level] if isinstance(task, tuple) else task for task in tasks}


def _spelt(cells: list[Any], known: set[Name]) -> list[Any]:
    """Names of the kind that the agent knows: 17 and "17" are the same name, spelt differently."""
    kinds = {type(name) for name in known}
    if kinds == {str}:
        return [str(cell) for cell in cells]
    if kinds == {int}:
        return [int(cell) if _is_whole(cell) else cell for cell in cells]
    return cells


def _is_whole(cell: Any) -> bool:
    return isinstance(cell, int) or str(int(cell)) == cell if _has_digits(cell) else False


def _has_digits(cell: Any) -> bool:
    text = str(cell).removeprefix("-")
    return text.isascii() and text.isdecimal() and len(text) <= 20


def _are_names(arms: list[Any]) -> bool:
    return all(isinstance(arm, str | int) for arm in arms)
