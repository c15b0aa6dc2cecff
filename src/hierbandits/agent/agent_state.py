"""All that an agent knows and remembers, and how each kind of event changes it."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hierbandits.agent.batches import Batches
from hierbandits.agent.catalogue import Catalogue
from hierbandits.agent.ledger import Entry, Ledger
from hierbandits.agent.roster import Member, Roster
from hierbandits.agent.running_sums import RunningSums
from hierbandits.agent.start_over import StartOver, count_decisions
from hierbandits.agent.step import Stage, Step
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.beliefs.told_numbers import check_told
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.start import Start
from hierbandits.models.model import Model
from hierbandits.policies.policy import Policy
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Indices, Matrix, Name, TaskName, Vector

EXTREME = 300.0
"""A belief starts over where a reward goes that is so many times the root mean square of others.

It had little room left for their digits, and cannot give these back.
"""


class AgentState:
    """What events change: an agent calls its methods, and so does a journal that is replayed.

    Their arguments were checked before, but for what rewards the model can have.  A method changes
    nothing itself: it returns the step that does, which counts as one event.  A step can be
    interrupted between any two of its lines and finished later.  Kernels are not interrupted, and
    each counts what it was told: the belief and the sums say by `num_rewards` and `count` whether
    they know of the rewards of a step.
    """

    def __init__(
        self,
        prior: Model,
        recipe: Recipe,
        arms: Any,
        remember: int | None,
        start: Start | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        each = prior.dim if prior.is_armed else prior.dim**2
        limits.check_table(1, prior.dim, each, armed=prior.is_armed)
        self.limits = limits
        self.prior = prior
        self.recipe = recipe
        self.policy = recipe(prior)
        self.catalogue = Catalogue(
            arms,
            prior.dim,
            armed=prior.is_armed,
            largest=self.belief.largest_feature,
            limits=limits,
            encoder=None if start is None else start.encoder,
        )
        self.roster = Roster(self.belief, prior.num_levels - 1, limits)
        self.ledger = Ledger(remember, limits)
        self.batches = Batches()
        self.sums = RunningSums(prior.dim, armed=prior.is_armed)
        self.num_events = 0
        self.num_rewards = 0  # that the belief and the sums know of, between events
        self.history = secrets.token_hex(8)  # tells its events from those of other agents
        self.unfinished: Step | tuple[Entry, float, float] | None = None  # the event under way
        if start is not None:
            paths = [self.roster.checked_path(task) for task in start.tasks]
            self.roster.check_room(paths)
            self._take(self._with_past(paths, start.record()))

    @property
    def belief(self) -> Posterior:
        """What the agent's policy knows."""
        return self.policy.belief

    def totals(self) -> TaskSums:
        """The sums of all rewards, a row for each task."""
        return self.sums.total(len(self.roster))

    def finish(self) -> None:
        """Let an event that was interrupted happen wholly, or not at all."""
        step = self.unfinished
        if isinstance(step, Step):
            step.finish()
        elif step is not None:
            self._finish_reward(*step)
        self.unfinished = None

    def _step(self, now: float | None, *stages: Stage) -> Step:
        """A step that ends with its event counted; `now` is the clock's, or None."""
        number = self.num_events + 1

        def count(_: bool) -> None:
            self.num_rewards = int(self.belief.num_rewards.sum())
            if now is not None:
                self.ledger.tick(now)
            self.num_events = number

        return Step([*stages, count])

    def decide(self, entries: Sequence[Entry], now: float, *, best: bool = False) -> Step:
        """New decisions await their rewards."""

        def add(_: bool) -> None:
            for entry in entries:
                self.ledger.add(entry, best=best)

        return self._step(now, add)

    def reward_one(self, entry: Entry, reward: float, now: float) -> None:
        """`reward` of one pending decision, at once."""
        self.unfinished = entry, reward, now
        try:
            member, row = entry.member, entry.row
            self.policy.belief._raw_observe_one(member.node, row, reward)
            self.sums.add(member.row, row, reward)
            self._settle_one(entry, reward, now)
        except BaseException:
            self.finish()
            raise

    def _settle_one(self, entry: Entry, reward: float, now: float) -> None:
        """`reward_one` from where the belief and the sums know the reward."""
        ledger, id = self.ledger, entry.id
        settled, lag = ledger.settled, ledger.lag
        if now < ledger.latest:
            lag = ledger.lag_at(now)
        entry.reward, entry.settled = reward, now + lag
        # At once: no interrupt comes between the parts of an assignment.
        settled[id], ledger.latest, ledger.lag, self.num_events, self.num_rewards = (
            entry,
            now,
            lag,
            self.num_events + 1,
            self.num_rewards + 1,
        )
        del ledger.pending[id]
        if ledger.remember is not None and len(settled) > ledger.remember:
            settled.popitem(last=False)
        self.unfinished = None

    def _finish_reward(self, entry: Entry, reward: float, now: float) -> None:
        """Do what is left of `reward_one`."""
        ledger, member, row = self.ledger, entry.member, entry.row
        if entry.id in ledger.pending and entry.id not in ledger.settled:
            if self.belief.num_rewards.sum() == self.num_rewards:
                self.belief._raw_observe_one(member.node, row, reward)
            if self.sums.count() == self.num_rewards:
                self.sums.add(member.row, row, reward)
            self._settle_one(entry, reward, now)
        ledger.pending.pop(entry.id, None)
        ledger.trim()

    def reward(self, entries: Sequence[Entry], rewards: Sequence[float], now: float) -> Step:
        """Decisions have their rewards now; these replace defaults."""
        self.belief.check_rewards("value" if len(rewards) == 1 else "values", rewards)
        each = list(zip(entries, rewards, strict=True))
        new = [(entry, reward) for entry, reward in each if not entry.provisional]
        old = [(entry, reward) for entry, reward in each if entry.provisional]
        settle = partial(self.ledger.settle, entries, rewards, now)
        # The old ones are known by now; new ones might take their rows from them.
        return self._step(now, *self._revising(old), *self._observing(new), lambda _: settle())

    def default(self, entries: Sequence[Entry], reward: float, now: float) -> Step:
        """Pending decisions have this reward until their own comes."""
        self.belief.check_rewards("default", reward)
        rewards = [reward] * len(entries)
        settle = partial(self.ledger.settle, entries, rewards, now, provisional=True)
        told = self._observing(list(zip(entries, rewards, strict=True)))
        return self._step(now, *told, lambda _: settle())

    def correct(self, entry: Entry, reward: float, now: float) -> Step:
        """A settled decision has another reward."""
        self.belief.check_rewards("value", reward)

        def put(_: bool) -> None:
            entry.reward, entry.provisional = reward, False

        return self._step(now, *self._revising([(entry, reward)]), put)

    def drop(self, entries: Sequence[Entry], now: float) -> Step:
        """Forget decisions, but not what they taught."""
        return self._step(now, lambda _: self.ledger.drop(entries))

    def _observing(self, each: Sequence[tuple[Entry, float]]) -> list[Stage]:
        """The belief and the sums learn the rewards of decisions."""
        if not each:
            return []
        members = [entry.member for entry, _ in each]
        table = np.array([entry.row for entry, _ in each])
        time = None
        if self.belief.IS_TIMED:  # a reward says what a task was like when it was decided for
            time = np.array([entry.time for entry, _ in each])
        return self._learning(members, table, np.array([reward for _, reward in each]), time)

    def _learning(
        self,
        members: Sequence[Member],
        table: Matrix | Indices,
        rewards: Vector,
        time: Vector | None = None,
    ) -> list[Stage]:
        """The belief and the sums learn the rewards of tasks that are met by then."""
        known = self.num_rewards
        met = [member.node for member in members] or [int(self.belief.roots[0])] * len(rewards)
        check_told(self.belief, np.array(met, np.intp), table, rewards)

        def tell(again: bool) -> None:
            if not again or self.belief.num_rewards.sum() == known:
                nodes = np.array([member.node for member in members], np.intp)
                self.belief._raw_observe(nodes, table, rewards, time=time)

        def add(again: bool) -> None:
            if not again or self.sums.count() == known:
                rows = np.array([member.row for member in members], np.intp)
                self.sums.add_many(rows, table, rewards)

        return [tell, add, lambda _: self.belief._raw_settle()]

    def _revising(self, each: Sequence[tuple[Entry, float]]) -> list[Stage]:
        """The sums and the belief learn other rewards of settled decisions."""
        changed = [(entry, reward) for entry, reward in each if entry.reward != reward]
        if not changed:
            return []
        events = [(entry.member.node, entry.row, _reward_of(entry), new) for entry, new in changed]
        self.belief._raw_check_revisions(events)  # what is written happens
        rows = np.unique([entry.member.row for entry, _ in changed])
        nodes = np.unique([entry.member.node for entry, _ in changed])
        put_back: list[Callable[[], None]] = []  # what the sums were, and then the belief
        extreme: list[Entry] = []  # whose old rewards the belief cannot give back
        made: list[StartOver] = []
        starts_over = self.belief.IS_GAUSSIAN and not self.belief.IS_TIMED

        def keep_sums(_: bool) -> None:
            put_back[:] = [self.sums.keep(rows)]

        def revise_sums(again: bool) -> None:
            if again:
                put_back[0]()
            for entry, reward in changed:
                old = _reward_of(entry)
                self.sums.revise(entry.member.row, entry.row, old, reward)
                if old * old > EXTREME**2 * self.sums.mean_square() and starts_over:
                    extreme.append(entry)

        def keep_belief(_: bool) -> None:
            put_back[1:] = [self.belief._raw_keep(nodes)]

        def revise_belief(again: bool) -> None:
            if again and not made:
                put_back[1]()
            for event in events if not made else ():
                if extreme or not (self.belief.IS_TIMED or self.belief._raw_can_revise(*event)):
                    made[:] = [self._started_over(self.sums, self.roster)]
                    break
                self.belief.revise(*event)
            if made:
                self._take(made[0])

        stages = [keep_sums, revise_sums, keep_belief, revise_belief]
        return [*stages, lambda _: self.belief._raw_settle()]

    def learn(
        self,
        tasks: Sequence[tuple[Name, ...]],
        table: Matrix | Indices,
        rewards: Vector,
        now: float | None,
    ) -> Step:
        """Rewards of decisions that were made elsewhere; new tasks are met."""
        self.belief.check_rewards("rewards", rewards)
        if len(tasks) == 0:
            return self._step(now)
        roster, members = self.roster, list[Member]()
        undo = partial(roster.unmeet, len(roster), self.belief.num_nodes)

        def meet(again: bool) -> None:
            if again:
                undo()
            members[:] = roster.meet_all(tasks)

        return self._step(now, meet, *self._learning(members, table, rewards))

    def learn_past(self, tasks: Sequence[tuple[Name, ...]], sums: TaskSums, now: float) -> Step:
        """Whole sums, a row for each task, before any reward."""
        return self._step(now, self._taking(self._with_past(tasks, sums)))

    def _with_past(self, tasks: Sequence[tuple[Name, ...]], sums: TaskSums) -> StartOver:
        roster = self.roster.with_tasks(tasks)
        past = self.sums.with_past(roster.rows_of(tasks), sums)
        return self._started_over(past, roster)

    def _started_over(self, sums: RunningSums, roster: Roster) -> StartOver:
        """A new belief that has learned all sums of a roster's tasks."""
        return StartOver.of(self.recipe(self.prior), sums, roster, self.belief)

    def forget(self, task: TaskName, now: float) -> Step:
        """A task was never met."""
        member, others = self.roster.find(task), self.roster.without(task)
        made = self._started_over(self.sums.without(member.row), others)

        def drop(_: bool) -> None:
            self.ledger.drop(self.ledger.of_member(member))

        return self._step(now, self._taking(made), drop)

    def add_arm(self, name: Name, prior: Model, policy: Policy, now: float) -> Step:
        """One more arm: its prior, and a new policy for it."""
        made = StartOver.of(policy, self.sums.with_arm(), self.roster, self.belief)

        def add(_: bool) -> None:
            self.prior = prior
            self.catalogue.add(name)

        return self._step(now, add, self._taking(made))

    def check_more_arms(self) -> None:
        """Raise an error if one more arm would be too much, for all tasks together."""
        dim = self.prior.dim + 1
        self.limits.check_table(len(self.roster), dim, dim, armed=True)

    def retire_arm(self, name: Name, now: float) -> Step:
        """Offer an arm no more."""
        return self._step(now, lambda _: self.catalogue.retire(name))

    def _taking(self, made: StartOver) -> Stage:
        return lambda _: self._take(made)

    def _take(self, made: StartOver) -> None:
        """Let a policy that has started over take the place of this one; twice is as once."""
        made.place()
        self.policy, self.sums, self.roster = made.policy, made.sums, made.roster

    def count_decisions(self) -> None:
        """Tell a forced start how often each task has explored."""
        count_decisions(self.policy, self.roster, self.roster.nodes())


def _reward_of(entry: Entry) -> float:
    assert entry.reward is not None  # it is settled
    return entry.reward
