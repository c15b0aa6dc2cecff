"""Who checks what an agent is told, writes it into the journal, and only then lets it happen."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.agent.agent_lock import depth
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.decision import Decision, UnknownDecision
from hierbandits.agent.journal import Journal
from hierbandits.agent.ledger import Entry
from hierbandits.agent.recalled_entry import recalled_entry
from hierbandits.agent.step import Step
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array, state_array
from hierbandits.types import Name, TaskName

if TYPE_CHECKING:
    from _thread import RLock as Lock


class Bookkeeper:
    """Changes the state of an agent, one event at a time.

    If a check or the journal fails, nothing has changed.  If an event is interrupted, it happens
    wholly or not at all: it is finished at once, or, if that is interrupted too, when the agent is
    next asked for anything.  `Agent` says what each event means.
    """

    def __init__(
        self,
        state: AgentState,
        journal: Journal | None,
        clock: Callable[[], float],
        lock: "Lock",
    ) -> None:
        if not callable(clock):
            raise ValueError(f"clock must be a function that tells the time, got {clock!r:.80}")
        self.held, self.journal, self.clock, self._lock = state, journal, clock, lock
        belief = state.belief
        self._is_quick = journal is None and belief.IS_GAUSSIAN and not belief.IS_TIMED

    @property
    def state(self) -> AgentState:
        """The state, to be read: whole, or as it is before the event that is under way.

        A journal or a rule may read the state of its own agent, since nothing has happened yet.
        """
        step = self.held.unfinished
        is_before = isinstance(step, Step) and not step.written and depth(self._lock) > 1
        return self.held if step is None or is_before else self.whole()

    def whole(self) -> AgentState:
        """The state, to be changed; an event that was interrupted is finished first."""
        if self.held.unfinished is not None:
            if depth(self._lock) > 1:
                raise RuntimeError(
                    "agent must not be used in the middle of one of its own calls: by its journal, "
                    "which may read it, by its rule or by the handler of a signal"
                )
            self.held.finish()
        return self.held

    def begin_child(self) -> None:
        """Make other ids than the parent process does.

        The fork holds the lock; if nobody else does, no call is going on.
        """
        if depth(self._lock) == 1:
            self.held.finish()
        self.held.ledger.begin_ids()

    def _happen(
        self, kind: str, now: float, parts: Callable[[], dict[str, Any]], step: Step
    ) -> None:
        """Write an event into the journal, then let it happen."""
        state = self.held
        state.unfinished = step
        try:
            if self.journal is None:
                step.written.append(None)
            else:
                number = state.num_events
                self.journal.write(state.history, number, kind, now, parts(), step.written)
            step.run()
            state.unfinished = None
        except BaseException:
            state.finish()
            raise

    def now(self) -> float:
        """What the clock says, checked."""
        return checked_now(self.clock())

    def paths(self, tasks: Sequence[TaskName]) -> list[tuple[Name, ...]]:
        """The path of each of several tasks, checked."""
        if isinstance(tasks, str) or not isinstance(tasks, Iterable):
            raise ValueError(f"tasks must be several tasks, got {tasks!r:.80}")
        roster = self.held.roster
        paths = [roster.checked_path(task) for task in tasks]
        roster.check_room(paths)
        return paths

    def decide(
        self, entries: Sequence[Entry], now: float, undo: Callable[[], None], *, best: bool
    ) -> list[Decision]:
        """New decisions await their rewards; `undo` what was done to make them, if they cannot."""
        decisions = [entry.decision for entry in entries]

        def parts() -> dict[str, Any]:
            return {"best": best, "decisions": [decision.to_dict() for decision in decisions]}

        step = self.held.decide(entries, now, best=best)
        step.undo = undo
        self._happen("decide", now, parts, step)
        return decisions

    def reward_one(self, id: str, reward: float) -> bool:
        """`reward` of one decision; False if it has this reward already."""
        state = self.held
        if state.unfinished is not None:
            self.whole()
        ledger = state.ledger
        entry = ledger.pending.get(id) if type(id) is str else None  # the usual case, ahead
        if entry is None:
            entry = ledger.awaiting(id, reward)
        if entry is None:
            return False
        if self._is_quick and not entry.provisional:
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

        def parts() -> dict[str, Any]:
            return {"ids": [entry.id for entry in entries], "values": list(rewards)}

        self._happen("reward", now, parts, self.held.reward(entries, rewards, now))

    def reward_many(self, ids: Sequence[str], rewards: Sequence[float]) -> list[bool]:
        """Rewards of decisions, all or none; for each whether it is new."""
        awaiting = self.whole().ledger.awaiting_many(ids, rewards)
        new = [(e, value) for e, value in zip(awaiting, rewards, strict=True) if e is not None]
        if new:
            self.reward([entry for entry, _ in new], [value for _, value in new])
        return [entry is not None for entry in awaiting]

    def correct(self, id: str, value: float, forgotten: tuple[Decision, float] | None) -> bool:
        """A settled decision has another reward."""
        value = float(real_array("value", value, ()))
        state, parts = self.whole(), dict[str, Any](id=id, value=value)
        try:
            entry = state.ledger.known(id)
        except UnknownDecision:
            if forgotten is None:
                raise
            entry = recalled_entry(state, id, forgotten)
            parts |= {"decision": forgotten[0].to_dict(), "was": entry.reward}
        if entry.reward == value and not entry.provisional:
            return False
        now = self.now()
        self._happen("correct", now, lambda: parts, state.correct(entry, value, now))
        return True

    def learn(self, tasks: Sequence[TaskName], features: Any, rewards: ArrayLike) -> None:
        """Rewards of decisions that were made elsewhere."""
        state, paths = self.whole(), self.paths(tasks)
        arms: list[Name] | None = None
        if state.prior.is_armed:
            features = state.catalogue.places_of(features, "features")
            arms = [state.catalogue.names[place] for place in features.tolist()]
        elif not paths and len(features) == 0:
            features = np.empty((0, state.prior.dim))  # a list of no rows has no columns either
        table = state.belief.checked_features(features, len(paths))
        values = real_array("rewards", rewards, (len(paths),), " to match tasks")
        now = self.now()

        def parts() -> dict[str, Any]:
            features = None if arms is not None else table.tolist()
            given = {"tasks": _plain(paths), "rewards": values.tolist()}
            return given | {"arms": arms, "features": features}

        self._happen("learn", now, parts, state.learn(paths, table, values, now))

    def learn_past(
        self, tasks: Sequence[TaskName], sums: TaskSums, arms: Sequence[Name] | None
    ) -> None:
        """Whole sums of tasks, before any reward."""
        state, paths = self.whole(), self.paths(tasks)
        if arms is not None:
            places = state.catalogue.indices_of(arms)
            if not sums.is_armed or len(places) != sums.xy.shape[1]:
                raise ValueError(
                    f"arms must name each arm of sums, whose shape is {sums.xx.shape}, "
                    f"got {list(arms)!r:.80}"
                )
            sums = sums.with_arms_at(places, state.prior.dim)
        if len(set(paths)) < len(paths):
            raise ValueError(f"tasks must be different, got {list(tasks)!r:.80}")
        state.belief.check_past(len(paths), sums)
        now = self.now()

        def parts() -> dict[str, Any]:
            lists = {name: values.tolist() for name, values in sums.state().items()}
            names = list(state.catalogue.names) or None
            return {"tasks": _plain(paths), "sums": lists, "arms": names}

        self._happen("learn_past", now, parts, state.learn_past(paths, sums, now))

    def expire(self, older_than: float, default: float | None) -> list[str]:
        """Old decisions wait no longer."""
        age = float(real_array("older_than", older_than, ()))
        if age < 0:
            raise ValueError(f"older_than must be at least 0 seconds, got {older_than!r:.80}")
        if default is not None:
            default = float(real_array("default", default, ()))
            self.held.belief.check_rewards("default", default)
        state, now = self.whole(), self.now()
        ledger = state.ledger
        before = ledger.steady(now) - age
        pending = ledger.pending_before(before)
        forgotten = ledger.settled_before(before) if default is None else []
        ids = [entry.id for entry in pending]
        if pending or forgotten:
            parts = {"before": before, "default": default, "ids": ids}
            if default is None:
                step = state.drop([*pending, *forgotten], now)
            else:
                step = state.default(pending, default, now)
            self._happen("expire", now, lambda: parts, step)
        return ids

    def forget(self, task: TaskName) -> None:
        """A task was never met."""
        state = self.whole()
        parts = {"task": _plain([state.roster.checked_path(state.roster.find(task).task)])[0]}
        now = self.now()
        self._happen("forget", now, lambda: parts, state.forget(task, now))

    def add_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> None:
        """One more arm."""
        state = self.whole()
        name = state.catalogue.new_name(name)
        state.check_more_arms()
        widths = {"hyper_mean": hyper_mean, "hyper_std": hyper_std, "task_std": task_std}
        plain = {key: _plain_width(key, value) for key, value in widths.items()}
        prior = state.prior.with_arm(name, *plain.values())
        now, parts = self.now(), {"name": name, **plain}
        step = state.add_arm(name, prior, state.recipe(prior), now)
        self._happen("add_arm", now, lambda: parts, step)

    def retire_arm(self, name: Name) -> None:
        """An arm is offered no more."""
        state = self.whole()
        name = state.catalogue.offered_name(name)
        now, parts = self.now(), {"name": name}
        self._happen("retire_arm", now, lambda: parts, state.retire_arm(name, now))


def checked_now(now: float) -> float:
    """What a clock said, as a plain number."""
    return float(state_array("clock", now, ()))


def _plain_width(name: str, value: float | None) -> float | None:
    """A number of a new arm, as JSON holds it."""
    return None if value is None else float(real_array(name, value, ()))


def _plain(paths: Sequence[tuple[Name, ...]]) -> list[Any]:
    """Tasks as JSON holds them."""
    return [list(path) if len(path) > 1 else path[0] for path in paths]
