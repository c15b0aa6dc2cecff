"""Who makes the decisions of an agent, a round at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from math import inf
from typing import Any, TypeVar

import numpy as np

from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper, checked_now
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Entry
from hierbandits.agent.step import Step
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.checks import count
from hierbandits.policies.arms import Arms
from hierbandits.policies.choice_account import ChoiceAccount, arms_left_out, choice_accounts
from hierbandits.policies.policy import DRAWS
from hierbandits.policies.rule import leaves_arms_out
from hierbandits.types import Indices, Name, TaskName

T = TypeVar("T")
_LUCK = 1 << 63

FLOOR = 0.02
"""The share of decisions made at random, unless it is given, where a log would miss arms else."""


class Decider:
    """Chooses arms by the agent's policy, with the agent's random numbers.

    Propensities are on if `draws` or a floor asks for them.  With a journal they are on if the
    policy's rule gives any, unless `draws` is 0.  Where they are on and the rule leaves arms out,
    the floor is FLOOR unless another is given.
    """

    def __init__(
        self, books: Bookkeeper, seed: int | None, draws: int | None, floor: float | None
    ) -> None:
        policy = books.held.policy
        if draws is None:
            has_journal = books.journal is not None and policy.gives_propensities
            draws = DRAWS if has_journal or floor else None
        has_propensities = draws is not None and draws != 0
        self.has_own_floor = floor is not None
        if floor is None:
            floor = FLOOR if has_propensities and leaves_arms_out(policy.rule) else 0.0
        if has_propensities or floor != 0:
            policy.check_propensities(DRAWS if draws is None else draws, floor)
        self._books = books
        self.rng = np.random.default_rng(None if seed is None else count("seed", seed))
        self.stock = NormalStock(self.rng)  # for single decisions
        self._choosing = Step(undo=partial(_unchoose, books.held, self.stock))
        is_timed = policy.belief.IS_TIMED
        self._is_thorough = has_propensities or books.journal is not None or is_timed
        self.draws = None if draws is None else count("draws", draws)
        self.floor = float(floor)

    def renew(self, seed: int | None = None) -> None:
        """Go on with other random numbers, those of a seed or new ones."""
        fresh = np.random.default_rng(None if seed is None else count("seed", seed))
        self.rng.bit_generator.state = fresh.bit_generator.state
        self.stock.put(np.empty(0))
        self.stock.begin()

    def begin_luck(self, luck: int | None = None) -> int:
        """Let all choices from here on follow from one number below 2^63, a new one unless given.

        Returns it.  A hash makes the generator's state of it, four times as fast as a seed.
        """
        if luck is None:
            luck = self.rng.bit_generator.random_raw() >> 1
        elif count("luck", luck) >= _LUCK:
            raise ValueError(f"luck must be below 2**63, got {luck}")
        digest = blake2b(luck.to_bytes(8, "little"), digest_size=32).digest()
        first, second = int.from_bytes(digest[:16], "little"), int.from_bytes(digest[16:], "little")
        self.rng.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": first, "inc": second | 1},  # any state and any odd step will do
            "has_uint32": 0,
            "uinteger": 0,
        }
        self.stock.put(np.empty(0))
        self.stock.begin()
        return luck

    def decide_one(self, task: TaskName, arms: Any, id: str | None) -> Decision | None:
        """A decision for a task that was met before; None if it takes more than a choice.

        As `decide` of one task, and faster.
        """
        books = self._books
        state = books.held
        if state.unfinished is not None:
            books.whole()
        member = state.roster.known(task)
        if member is None or self._is_thorough:
            return None
        offer = state.catalogue.usual_offer(arms)
        if offer is None:
            return None
        ledger = state.ledger
        if len(ledger.pending) >= ledger.most_pending:
            ledger.check_room(1)
        if id is None:
            ledger.made += 1
            new_id = f"{ledger.prefix}{ledger.made}"
        else:
            new_id = ledger.new_ids([id], 1)[0]
        now, lag, stock = books.clock(), ledger.lag, self.stock
        if type(now) is not float or not ledger.latest <= now < inf:
            now = checked_now(now)
            lag = ledger.lag_at(now)
        table, names = offer
        stock.kept, stock.mark = None, stock.used  # as `begin` does
        state.unfinished = self._choosing
        try:
            place = state.policy._raw_choose_one(stock, member.node, table)
            row: Any = table[place]
            if not row.ndim:
                row = int(row)
            elif arms is not None:
                row = row.copy()  # the reward, when it comes, is for these; own arms never change
            entry = Entry(new_id, member, names[place], row, None, now, names)
            entry.place, entry.lag = ledger.num_added, lag
            # `AgentState.decide`, at once: no interrupt comes between the parts of an assignment,
            # and all that can fail is to make them, or to put the first of them.
            (
                ledger.pending[new_id],
                ledger.num_added,
                ledger.latest,
                ledger.lag,
                member.decisions,
                state.num_events,
                state.unfinished,
            ) = (
                entry,
                entry.place + 1,
                now,
                lag,
                member.decisions + 1,
                state.num_events + 1,
                None,
            )
        except BaseException:
            state.finish()
            raise
        return entry.decision

    def decide(
        self,
        tasks: Sequence[TaskName],
        arms: Any,
        eligible: Any,
        ids: Sequence[str] | None,
        best: bool,
        context: Any = None,
        odds: list[list[float]] | None = None,
    ) -> list[Decision]:
        """The decisions of one round, which await their rewards; see `Agent.decide_many`."""
        books, state = self._books, self._books.whole()
        if not isinstance(best, bool | np.bool_):
            raise ValueError(f"best must be True or False, got {best!r:.80}")
        best = bool(best)
        paths = books.paths(tasks)
        if context is not None:
            arms = state.catalogue.encoded(arms, context, len(paths))
        offered, names, playable = state.catalogue.offered(arms, len(paths), eligible)
        new_ids = state.ledger.new_ids(ids, len(paths))
        now = books.now()
        size = len(state.roster), state.belief.num_nodes
        undo = partial(_unmeet, state, self.stock, *size)
        self.stock.begin()
        state.unfinished = Step(undo=undo)
        try:
            members = state.roster.meet_all(paths)
            nodes = np.array([member.node for member in members], np.intp)
            choices, propensities = self._choose(nodes, offered, best, now, odds)
            arms_chosen = [known[place] for known, place in zip(names, choices, strict=True)]
            rows = offered.features(choices)
            armed, entries = state.prior.is_armed, []
            for e, member in enumerate(members):
                row: Any = int(rows[e]) if armed else rows[e].copy()
                entry = Entry(
                    new_ids[e], member, arms_chosen[e], row, propensities[e], now, playable[e]
                )
                entries.append(entry)
            return books.decide(entries, now, undo, best=best)
        except BaseException:
            state.finish()
            raise

    def advise(self, tasks: Sequence[TaskName], arms: Any, context: Any) -> list[Name]:
        """The arms that a round might choose, which nobody remembers; see `Agent.advise`."""

        def choose(nodes: Indices, offered: Arms, now: float) -> list[int]:
            numbers: list[int] = self._choose(nodes, offered, False, now)[0].tolist()
            return numbers

        names, choices = self._as_if(tasks, arms, context, choose)
        return [known[place] for known, place in zip(names, choices, strict=True)]

    def accounts(
        self, tasks: Sequence[TaskName], arms: Any, context: Any, best: bool, confidence: float
    ) -> list[tuple[tuple[Name, ...], ChoiceAccount]]:
        """Why a round that came now would choose as it does; see `Agent.account_many`."""

        def tell(nodes: Indices, offered: Arms, now: float) -> list[ChoiceAccount]:
            policy, rng = self._books.held.policy, np.random.default_rng(0)
            rng.bit_generator.state = self.rng.bit_generator.state
            time = np.full(nodes.size, now) if policy.belief.IS_TIMED else None
            return choice_accounts(
                policy, rng, nodes, offered, draws=self.draws, floor=self.floor, best=best,
                confidence=confidence, time=time,
            )  # fmt: skip

        names, told = self._as_if(tasks, arms, context, tell)
        return [
            (tuple(known[number] for number in one.numbers.tolist()), one)
            for known, one in zip(names, told, strict=True)
        ]

    def without_support(
        self, tasks: Sequence[TaskName], arms: Any, context: Any
    ) -> list[tuple[Name, ...]]:
        """The arms that the rule would not play in a round; see `Agent.without_support`."""

        def find(nodes: Indices, offered: Arms, now: float) -> list[Indices]:
            policy, rng = self._books.held.policy, np.random.default_rng(0)
            rng.bit_generator.state = self.rng.bit_generator.state
            time = np.full(nodes.size, now) if policy.belief.IS_TIMED else None
            return arms_left_out(policy, rng, nodes, offered, time)

        names, never = self._as_if(tasks, arms, context, find)
        return [
            tuple(known[number] for number in numbers.tolist())
            for known, numbers in zip(names, never, strict=True)
        ]

    def _as_if(
        self,
        tasks: Sequence[TaskName],
        arms: Any,
        context: Any,
        ask: Callable[[Indices, Arms, float], list[T]],
    ) -> tuple[Sequence[Sequence[Name]], list[T]]:
        """The arms' names of each event of a round, and an answer; no task stays met."""
        books, state = self._books, self._books.whole()
        paths = books.paths(tasks)
        if context is not None:
            arms = state.catalogue.encoded(arms, context, len(paths))
        offered, names, _ = state.catalogue.offered(arms, len(paths), None)
        now, size = books.now(), (len(state.roster), state.belief.num_nodes)
        state.unfinished = Step(undo=partial(_leave, state, *size))
        try:
            members = state.roster.meet_all(paths)
            nodes = np.array([member.node for member in members], np.intp)
            return names, ask(nodes, offered, now)
        finally:
            state.finish()

    def _choose(
        self,
        nodes: Indices,
        offered: Arms,
        best: bool,
        now: float,
        odds: list[list[float]] | None = None,
    ) -> tuple[Indices, Sequence[float | None]]:
        """The number of each event's arm, and its propensity if the agent is to know it."""
        policy, draws, rng = self._books.held.policy, self.draws, self.stock.rng
        time = np.full(nodes.size, now) if policy.belief.IS_TIMED else None
        if best:
            choices, shares = policy._raw_choose_best(rng, nodes, offered, time=time)
        elif draws:
            choices, shares = policy._raw_choose_with_propensities(
                rng, nodes, offered, draws=draws, floor=self.floor, time=time, of_all=odds
            )
        else:
            choices = policy._raw_choose(rng, nodes, offered, time=time)
        return choices, shares.tolist() if draws else [None] * nodes.size


def _unmeet(state: AgentState, stock: NormalStock, size: int, num_nodes: int) -> None:
    """Undo the meetings and the choices of a round: as if nothing had been asked."""
    _leave(state, size, num_nodes)
    stock.put_back()


def _leave(state: AgentState, size: int, num_nodes: int) -> None:
    """Undo the meetings and the turns of a round."""
    state.roster.unmeet(size, num_nodes)
    state.count_decisions()


def _unchoose(state: AgentState, stock: NormalStock) -> None:
    """Give back the random numbers and the turns of a choice."""
    state.count_decisions()
    stock.put_back()
