"""What an agent shows of itself: tables, a line, a card in a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from hierbandits.agent.agent_lock import AgentLock
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.decider import Decider
from hierbandits.agent.decision import Decision
from hierbandits.agent.posterior_table import (
    agent_card,
    groups_table,
    headline,
    own_means,
    population_table,
    posterior_table,
    summary,
)
from hierbandits.checks import count, probability
from hierbandits.policies.choice_account import ChoiceAccount
from hierbandits.types import Name, TaskName


class AgentFace:
    """The methods of an agent that people read; they change nothing but its luck."""

    _lock: AgentLock
    _books: Bookkeeper
    _decider: Decider

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
    def num_tasks(self) -> int:
        """How many tasks were met so far."""
        with self._lock:
            return len(self._state.roster)

    def tasks_between(self, first: int, last: int) -> list[TaskName]:
        """Some of the tasks, in the order in which they were met, counted from 0."""
        first, last = count("first", first), count("last", last)
        with self._lock:
            return [member.task for member in self._state.roster.between(first, last)]

    def decisions_between(self, first: int, last: int) -> list[int]:
        """How many decisions each of these tasks has had; see `tasks_between`."""
        first, last = count("first", first), count("last", last)
        with self._lock:
            return [member.decisions for member in self._state.roster.between(first, last)]

    def has_met(self, task: TaskName) -> bool:
        """Whether a task was met."""
        with self._lock:
            return self._state.roster.has(task)

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
    def is_looking(self) -> bool:
        """Whether unknown widths are being fitted, a part in each call; `save` ends that at once.

        An agent that was saved meanwhile goes on otherwise than one that was not.
        """
        with self._lock:
            return self._state.belief.is_looking

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
        return self.tasks_table([task], confidence)

    def tasks_table(
        self, tasks: Sequence[TaskName], confidence: float = 0.95
    ) -> dict[str, list[Any]]:
        """What is known of some tasks, as `table` shows it."""
        with self._lock:
            members = [self._state.roster.find(task) for task in tasks]
            return posterior_table(self._state, members, confidence)

    def population_table(self, confidence: float = 0.95) -> dict[str, list[Any]]:
        """What is known of the population that tasks come from, as `table` shows a task."""
        with self._lock:
            return population_table(self._state, confidence)

    def groups_table(self, most: int = 10, confidence: float = 0.95) -> dict[str, list[Any]]:
        """What is known of groups of tasks in a deep hierarchy, the first `most` of each level."""
        with self._lock:
            return groups_table(self._state, count("most", most), confidence)

    def own_means(self, task: TaskName) -> list[float | None]:
        """What the rewards of a task alone say of each arm or feature; None where they do not."""
        with self._lock:
            return own_means(self._state, self._state.roster.find(task))

    def begin_luck(self, luck: int | None = None) -> int:
        """Let all choices from here on follow from one number, a new one unless given; returns it.

        An agent in the same state that is given this number makes the same choices.
        """
        with self._lock:
            return self._decider.begin_luck(luck)

    def account_many(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        context: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        best: bool = False,
        confidence: float = 0.95,
    ) -> list[tuple[tuple[Name, ...], ChoiceAccount]]:
        """Why `decide_many` would now choose as it does: for each task its arms, and an account.

        No decision is made, no task is met, and no random number is used up: `decide_many` with
        the same arguments then makes these very choices.
        """
        checked = probability("confidence", confidence)
        with self._lock:
            return self._decider.accounts(tasks, arms, context, bool(best), checked)

    def without_support(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        context: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> list[tuple[Name, ...]]:
        """For each task the arms that the rule would not play now, whatever its luck in choosing.

        A log says nothing of them, unless there is a floor.  HierIDS leaves out other arms in the
        next decision, since it makes new draws.  Rules that may play every arm leave out none.
        No decision is made, as in `account_many`.
        """
        with self._lock:
            return self._decider.without_support(tasks, arms, context)

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
