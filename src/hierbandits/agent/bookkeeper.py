"""Who checks what an agent is told, writes it into the journal, and only then lets it happen."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.journal import Journal
from hierbandits.agent.ledger import Entry
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array, state_array
from hierbandits.types import Name, TaskName


class Bookkeeper:
    """Changes the state of an agent, one event at a time.

    If a check or the journal fails, nothing has changed.  `Agent` says what each event means.
    """

    def __init__(
        self, state: AgentState, journal: Journal | None, clock: Callable[[], float]
    ) -> None:
        if not callable(clock):
            raise ValueError(f"clock must be a function that tells the time, got {clock!r:.80}")
        self.state, self.journal, self.clock = state, journal, clock

    def now(self) -> float:
        """What the clock says, checked."""
        return checked_now(self.clock())

    def paths(self, tasks: Sequence[TaskName]) -> list[tuple[Name, ...]]:
        """The path of each of several tasks, checked."""
        if isinstance(tasks, str) or not isinstance(tasks, Iterable):
            raise ValueError(f"tasks must be several tasks, got {tasks!r:.80}")
        roster = self.state.roster
        paths = [roster.checked_path(task) for task in tasks]
        roster.check_room(paths)
        return paths

    def decide(self, entries: Sequence[Entry], now: float, *, best: bool) -> None:
        """New decisions await their rewards."""
        if self.journal is not None:
            decisions = [entry.decision.to_dict() for entry in entries]
            self._write("decide", now, {"best": best, "decisions": decisions})
        self.state.decide(entries, best=best)

    def reward_one(self, id: str, reward: float) -> bool:
        """`reward` of one decision; False if it has this reward already."""
        state = self.state
        entry = state.ledger.awaiting(id, reward)
        if entry is None:
            return False
        if self.journal is None and not entry.provisional:
            now = self.clock()
            if type(now) is not float or now - now != 0.0:  # not finite
                now = checked_now(now)
            state.reward_one(entry, reward, now)
        else:
            self.reward([entry], [reward])
        return True

    def reward(self, entries: Sequence[Entry], rewards: Sequence[float]) -> None:
        """Decisions that await these rewards have them now."""
        now = self.now()
        if self.journal is not None:
            ids = [entry.id for entry in entries]
            self._write("reward", now, {"ids": ids, "values": list(rewards)})
        self.state.reward(entries, rewards, now)

    def correct(self, id: str, value: float) -> bool:
        """A settled decision has another reward."""
        value = float(real_array("value", value, ()))
        entry = self.state.ledger.known(id)
        if entry.reward == value and not entry.provisional:
            return False
        self._write("correct", self.now(), {"id": id, "value": value})
        self.state.correct(entry, value)
        return True

    def learn(self, tasks: Sequence[TaskName], features: Any, rewards: ArrayLike) -> None:
        """Rewards of decisions that were made elsewhere."""
        state, paths = self.state, self.paths(tasks)
        arms: list[Name] | None = None
        if state.prior.is_armed:
            features = state.catalogue.places_of(features)
            arms = [state.catalogue.names[place] for place in features.tolist()]
        elif not paths and len(features) == 0:
            features = np.empty((0, state.prior.dim))  # a list of no rows has no columns either
        table = state.belief.checked_features(features, len(paths))
        values = real_array("rewards", rewards, (len(paths),), " to match tasks")
        now = self.now()
        if self.journal is not None:
            parts = {"arms": arms, "features": None if arms is not None else table.tolist()}
            given = {"tasks": _plain(paths), "rewards": values.tolist()}
            self._write("learn", now, given | parts)
        state.learn(paths, table, values)

    def learn_past(
        self, tasks: Sequence[TaskName], sums: TaskSums, arms: Sequence[Name] | None
    ) -> None:
        """Whole sums of tasks, before any reward."""
        state, paths = self.state, self.paths(tasks)
        if arms is not None:
            sums = sums.with_arms_at(state.catalogue.indices_of(arms), state.prior.dim)
        if len(set(paths)) < len(paths):
            raise ValueError(f"tasks must be different, got {list(tasks)!r:.80}")
        state.belief.check_past(len(paths), sums)
        now = self.now()
        if self.journal is not None:
            lists = {name: values.tolist() for name, values in sums.state().items()}
            names = list(state.catalogue.names) or None
            self._write("learn_past", now, {"tasks": _plain(paths), "sums": lists, "arms": names})
        state.learn_past(paths, sums)

    def expire(self, older_than: float, default: float | None) -> list[str]:
        """Old decisions wait no longer."""
        age = float(real_array("older_than", older_than, ()))
        if default is not None:
            default = float(real_array("default", default, ()))
        now, ledger = self.now(), self.state.ledger
        before = now - age
        pending = ledger.pending_before(before)
        forgotten = ledger.settled_before(before) if default is None else []
        ids = [entry.id for entry in pending]
        if pending or forgotten:
            self._write("expire", now, {"before": before, "default": default, "ids": ids})
            if default is None:
                self.state.drop([*pending, *forgotten])
            else:
                self.state.default(pending, default, now)
        return ids

    def forget(self, task: TaskName) -> None:
        """A task was never met."""
        path = self.state.roster.checked_path(task)
        member = self.state.roster.find(task)
        name = list(path) if len(path) > 1 else path[0]
        self._write("forget", self.now(), {"task": name})
        self.state.forget(member.task)

    def add_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> None:
        """One more arm."""
        state = self.state
        name = state.catalogue.new_name(name)
        state.check_more_arms()
        widths = {"hyper_mean": hyper_mean, "hyper_std": hyper_std, "task_std": task_std}
        plain = {key: _plain_width(key, value) for key, value in widths.items()}
        prior = state.prior.with_arm(name, *plain.values())
        policy = state.recipe(prior)
        self._write("add_arm", self.now(), {"name": name, **plain})
        state.add_arm(name, prior, policy)

    def retire_arm(self, name: Name) -> None:
        """An arm is offered no more."""
        name = self.state.catalogue.offered_name(name)
        self._write("retire_arm", self.now(), {"name": name})
        self.state.retire_arm(name)

    def _write(self, kind: str, now: float, parts: dict[str, Any]) -> None:
        if self.journal is not None:
            state = self.state
            self.journal.write(state.history, state.num_events, kind, now, parts)


def checked_now(now: float) -> float:
    """What a clock said, as a plain number."""
    return float(state_array("clock", now, ()))


def _plain_width(name: str, value: float | None) -> float | None:
    """A number of a new arm, as JSON holds it."""
    return None if value is None else float(real_array(name, value, ()))


def _plain(paths: Sequence[tuple[Name, ...]]) -> list[Any]:
    """Tasks as JSON holds them."""
    return [list(path) if len(path) > 1 else path[0] for path in paths]
