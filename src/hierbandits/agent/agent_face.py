"""What an agent shows of itself: tables, a line, a card in a notebook."""

from typing import Any

from hierbandits.agent.agent_lock import AgentLock
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.decision import Decision
from hierbandits.agent.posterior_table import agent_card, headline, posterior_table, summary
from hierbandits.checks import count
from hierbandits.types import Name, TaskName


class AgentFace:
    """The methods of an agent that people read; they change nothing."""

    _lock: AgentLock
    _books: Bookkeeper

    @property
    def _state(self) -> AgentState:
        """All that the agent knows and remembers, whole."""
        return self._books.state

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks met so far."""
        with self._lock:
            return [member.task for member in self._state.roster]

    @property
    def pending(self) -> list[Decision]:
        """The decisions that await their reward, oldest first."""
        with self._lock:
            return [entry.decision for entry in self._state.ledger.pending.values()]

    @property
    def num_pending(self) -> int:
        """How many decisions await their reward."""
        with self._lock:
            return len(self._state.ledger.pending)

    @property
    def offers(self) -> tuple[Name, ...] | None:
        """The arms that `decide` offers unless it is given others; None if there are none."""
        with self._lock:
            catalogue = self._state.catalogue
            return catalogue.all_names if catalogue.own is None else catalogue.own.names

    def node(self, task: TaskName) -> int:
        """The number of a task in the belief."""
        with self._lock:
            return self._state.roster.find(task).node

    def table(self, confidence: float = 0.95) -> dict[str, list[Any]]:
        """What is known of every task, as columns for a data frame: see `posterior_table`."""
        with self._lock:
            return posterior_table(self._state, list(self._state.roster), confidence)

    def task_table(self, task: TaskName, confidence: float = 0.95) -> dict[str, list[Any]]:
        """What is known of one task, as `table` shows it."""
        with self._lock:
            return posterior_table(self._state, [self._state.roster.find(task)], confidence)

    def summary(self, max_rows: int = 40, confidence: float = 0.95) -> str:
        """The agent's own line, and the first rows of the table as text."""
        with self._lock:
            return summary(self._state, count("max_rows", max_rows), confidence)

    def __repr__(self) -> str:
        with self._lock:
            return headline(self._state)

    def _repr_html_(self) -> str:
        with self._lock:
            return agent_card(self._state)
