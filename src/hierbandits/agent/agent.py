"""An agent: one policy for people, with task names, decision ids and late rewards."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from os import PathLike
from threading import RLock
from typing import Any, NoReturn

from numpy.typing import ArrayLike

from hierbandits.agent.agent_face import AgentFace
from hierbandits.agent.agent_file import read_agent, write_agent
from hierbandits.agent.agent_lock import FORK_GUARD, AgentLock
from hierbandits.agent.agent_prior import agent_prior, checked_recipe
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.decider import Decider
from hierbandits.agent.decision import Decision
from hierbandits.agent.decision_log import decision_log
from hierbandits.agent.journal import Event, Journal, JournalTarget, events_of
from hierbandits.agent.journal_replay import replay_events
from hierbandits.agent.log_replay import arms_of, check_no_journal, replay_log
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST, count, real_array
from hierbandits.file_marks import FileMarks
from hierbandits.logs import LIMITS, Encoder, Limits, Log, Start
from hierbandits.models.model import Model
from hierbandits.models.reward_family import RewardFamily
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Name, TaskName

REMEMBERED = 10_000
"""The settled decisions that an agent remembers by default."""


class Agent(AgentFace):
    """Decides for named tasks and learns from rewards that come late, twice or out of order.

    `prior` is a model, or a `Start`, whose log it then knows; `rewards` names their family unless
    it is Gaussian or the prior's, and a reward has an exposure of 1: one trial, one day.  Its
    policy is HierIDS unless given.  Without a prior it learns widths and noise as it goes; then
    `num_features`, or the form of `arms`, says what kind of bandit it is.  With more than two
    levels a task is a path, ("north", "store-17"). `arms` are what `decide` offers unless it is
    given others: names when armed; a mapping from name to features, or a (K, d) array, when linear.
    With `draws`, decisions carry propensities, of that many posterior draws unless known exactly;
    the share `floor` is made uniformly at random.

    `journal` is a file or a function that receives every event before it happens; with it,
    propensities are on, and the floor is FLOOR unless given if the policy would leave out arms;
    `draws=0` turns them off.
    The last `remember` settled decisions are kept, or all if it is None.  Threads may share an
    agent: its calls take turns.  A call that is interrupted, by a signal or for want of memory, has
    happened wholly or not at all.  What is beyond its `limits` is refused.
    """

    def __init__(
        self,
        prior: Model | Start | None = None,
        policy: str | Recipe | None = None,
        *,
        num_features: int | None = None,
        rewards: str | RewardFamily | None = None,
        arms: Any = None,
        seed: int | None = None,
        draws: int | None = None,
        floor: float | None = None,
        clock: Callable[[], float] = time.time,
        journal: JournalTarget | None = None,
        remember: int | None = REMEMBERED,
        limits: Limits = LIMITS,
    ) -> None:
        remember = None if remember is None else count("remember", remember)
        prior, arms, start = agent_prior(prior, num_features, arms, rewards)
        state = AgentState(prior, checked_recipe(policy), arms, remember, start, limits)
        lock = RLock()
        book = None if journal is None else Journal(journal)
        self._books = Bookkeeper(state, book, clock, lock)
        self._decider = Decider(self._books, seed, draws, floor)
        self._lock: AgentLock = lock
        self._agent_files = FileMarks()
        FORK_GUARD.watch(self)

    def _begin_child(self) -> None:
        """Make other ids and other choices than the parent process does."""
        self._books.begin_child()
        self._decider.renew()

    @property
    def prior(self) -> Model:
        """What the agent assumes; `add_arm` makes it wider."""
        return self._books.held.prior

    @property
    def belief(self) -> Posterior:
        """What the agent knows; `node` gives a task's number in it.

        It has no lock: no other thread may use the agent meanwhile.  `correct`, `forget`, `add_arm`
        and `learn_past` may put a new one in its place.
        """
        with self._lock:
            return self._state.belief

    @property
    def encoder(self) -> Encoder | None:
        """What makes features of contexts and arms; None if `decide` takes no context."""
        return self._books.held.catalogue.encoder

    @property
    def arms(self) -> tuple[Name, ...] | None:
        """The names of the agent's own arms, the retired ones too; None if it has none."""
        return self._books.held.catalogue.all_names

    def decide(
        self,
        task: TaskName,
        arms: Any = None,
        *,
        eligible: Any = None,
        id: str | None = None,
        best: bool = False,
        context: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Choose an arm for a task.

        `arms` is a (K, d) array, a mapping from name to features, or the names (or indices) of some
        of the agent's own arms, the default.  Once an arm's name is an integer, integers are names.
        `eligible` is a mask over the arms.  `best` takes the highest posterior mean: no exploring.
        An agent with an `encoder` is given who comes: `context`, {column: value}.
        """
        with self._lock:
            if context is not None:
                arms = self._state.catalogue.encoded([arms], context, 1)[0]
            if eligible is None and not best:
                decision = self._decider.decide_one(task, arms, id)
                if decision is not None:
                    return decision
            ids = None if id is None else [id]
            return self._decider.decide([task], arms, eligible, ids, best)[0]

    def decide_many(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        eligible: Any = None,
        ids: Sequence[str] | None = None,
        best: bool = False,
        context: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        odds: list[list[float]] | None = None,
    ) -> list[Decision]:
        """Choose arms in one concurrent round: tasks share one draw of what they have in common.

        `arms` and `context` are as in `decide`, for all tasks, or lists with one for each.  `odds`
        receives the propensities of all that each decision offered, where these are known.
        """
        with self._lock:
            return self._decider.decide(tasks, arms, eligible, ids, best, context, odds)

    def advise(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        context: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> list[Name]:
        """The arms that `decide_many` might choose now; no decision is made, no task is met."""
        with self._lock:
            return self._decider.advise(tasks, arms, context)

    def reward(self, id: str, value: float) -> bool:
        """Learn the reward of a decision.  True if it is new, False if the same came before.

        A reward replaces a default that `expire` gave.  Raises RewardConflict if another value
        came before, UnknownDecision for an unknown id.
        """
        if type(value) is not float or not abs(value) <= LARGEST:
            value = float(real_array("value", value, ()))
        with self._lock:
            return self._books.reward_one(id, value)

    def reward_many(self, ids: Sequence[str], values: ArrayLike) -> list[bool]:
        """Learn many rewards at once, or, if any of them is wrong, none."""
        rewards = real_array("values", values, (len(ids),), " to match ids").tolist()
        with self._lock:
            return self._books.reward_many(ids, rewards)

    def correct(
        self, id: str, value: float, *, forgotten: tuple[Decision, float] | None = None
    ) -> bool:
        """Replace the reward of a settled decision, exactly.  False if it has this one already.

        To 1e-9, if the old one was at most 1e9 times the usual size; after one that was very large
        (EXTREME) the belief starts over, as in `forget`.  Of a decision that is not remembered any
        more you tell what it was: `forgotten` is it and the reward that the agent has learned.
        """
        with self._lock:
            return self._books.correct(id, value, forgotten)

    def learn(self, tasks: Sequence[TaskName], features: Any, rewards: ArrayLike) -> None:
        """Learn rewards of decisions that were made elsewhere, all or none; new tasks are added.

        `features` are (E, d), or when armed the arms played, by name or index.
        """
        with self._lock:
            self._books.learn(tasks, features, rewards)

    def learn_past(
        self, tasks: Sequence[TaskName], sums: TaskSums, arms: Sequence[Name] | None = None
    ) -> None:
        """Learn what is known of tasks from before: the sums of a log, a row for each task.

        Only before the first reward.  `arms` names the columns of armed sums; without it they are
        the agent's own arms, in their order.
        """
        with self._lock:
            self._books.learn_past(tasks, sums, arms)

    def expire(self, older_than: float, default: float | None = None) -> list[str]:
        """Give up waiting for rewards of decisions made more than `older_than` seconds ago.

        Returns their ids.  A `default` is their reward until their own comes.  Without one they are
        forgotten, and so are rewards that are older.  Of the clock only its steps forward count.
        """
        with self._lock:
            return self._books.expire(older_than, default)

    def forget(self, task: TaskName) -> None:
        """Make it as if this task had never been met, with its rewards and decisions.

        The belief starts over from the sums of all other tasks, and so do unknown widths.
        """
        with self._lock:
            self._books.forget(task)

    def add_arm(
        self,
        name: Name,
        *,
        hyper_mean: float | None = None,
        hyper_std: float | None = None,
        task_std: float | None = None,
    ) -> None:
        """Offer one more arm, in an armed agent; the belief starts over, as in `forget`.

        By default it has the means of the others' hyper-means and variances, the latter if known.
        """
        with self._lock:
            self._books.add_arm(name, hyper_mean, hyper_std, task_std)

    def retire_arm(self, name: Name) -> None:
        """Offer an arm no more, in an armed agent; rewards of its decisions are still learned."""
        with self._lock:
            self._books.retire_arm(name)

    def log(self, *, by_arm: bool = False) -> Log:
        """The settled decisions that are still remembered, for `learn_prior` and `evaluate`.

        A linear agent's log has features; with `by_arm` it names the arms, as `evaluate` needs.
        """
        with self._lock:
            return decision_log(self._state, by_arm=by_arm or self.prior.is_armed)

    @classmethod
    def replay(
        cls,
        source: str | PathLike[str] | Iterable[Event] | Log,
        prior: Model | Start | None = None,
        policy: str | Recipe | None = None,
        *,
        num_features: int | None = None,
        rewards: str | RewardFamily | None = None,
        arms: Any = None,
        seed: int | None = None,
        draws: int | None = None,
        floor: float | None = None,
        clock: Callable[[], float] = time.time,
        journal: JournalTarget | None = None,
        remember: int | None = REMEMBERED,
        limits: Limits = LIMITS,
    ) -> "Agent":
        """The agent that a journal describes, a path or its events, or that a Log teaches.

        The other arguments are those of the agent that wrote the journal.  `journal` is where the
        new agent goes on writing: it may be the same file.  A Log takes no journal.
        """
        if isinstance(source, Log):
            check_no_journal(journal)
            arms = arms_of(source) if arms is None else arms
        agent = cls(
            prior, policy, num_features=num_features, rewards=rewards, arms=arms, seed=seed,
            draws=draws, floor=floor, clock=clock, journal=journal, remember=remember,
            limits=limits,
        )  # fmt: skip
        if isinstance(source, Log):
            replay_log(agent._state, source, clock())
        else:
            replay_events(agent._state, events_of(source), adopt=True)
        return agent

    @property
    def position(self) -> tuple[str, int]:
        """What tells its events from those of other agents, and the number of its next event."""
        with self._lock:
            return self._state.history, self._state.num_events

    def catch_up(self, events: Iterable[Event]) -> None:
        """Let events of the agent's own journal happen that it has not seen; see `position`."""
        with self._lock:
            replay_events(self._books.whole(), events_of(events))

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write all state to one file: `load` resumes bit for bit.

        A file of this agent that another has saved since is refused unless `overwrite` is true.
        """
        with self._lock:
            write_agent(path, self, overwrite=overwrite)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        policy: Recipe | None = None,
        clock: Callable[[], float] = time.time,
        journal: JournalTarget | None = None,
        tail: str | PathLike[str] | Iterable[Event] = (),
        limits: Limits | None = None,
        seed: int | None = None,
    ) -> "Agent":
        """The agent that `save` wrote.

        A recipe not in POLICIES is given as `policy`.  What happened in the journal `tail` happens
        again; `journal` goes on.  `limits` replace the file's.  A `seed` makes its own choices.
        """
        agent = read_agent(path, policy, limits, partial(cls, clock=clock, journal=journal))
        if seed is not None:
            agent._decider.renew(seed)
        replay_events(agent._state, events_of(tail))
        return agent

    def __reduce__(self) -> NoReturn:
        raise TypeError("an agent is not copied or pickled: save it to a file, and load that")
