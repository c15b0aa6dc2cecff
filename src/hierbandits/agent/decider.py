"""Who makes the decisions of an agent, a round at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierbandits.agent.bookkeeper import Bookkeeper, checked_now
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Entry
from hierbandits.beliefs.normal_stock import NormalStock
from hierbandits.checks import count
from hierbandits.policies.arms import Arms
from hierbandits.policies.policy import DRAWS
from hierbandits.policies.rule import leaves_arms_out
from hierbandits.types import Indices, TaskName, Vector

FLOOR = 0.02
"""The share of decisions made at random, unless it is given, where a log would miss arms else."""


class Decider:
    """Chooses arms by the agent's policy, with the agent's random numbers.

    Propensities are on if `draws` or a floor asks for them.  With a journal they are on if the
    policy's rule gives any.  Where they are on and the rule leaves arms out, the floor is FLOOR
    unless another is given.
    """

    def __init__(
        self, books: Bookkeeper, seed: int | None, draws: int | None, floor: float | None
    ) -> None:
        policy = books.state.policy
        if draws is None:
            has_journal = books.journal is not None and policy.gives_propensities
            draws = DRAWS if has_journal or floor else None
        if floor is None:
            floor = FLOOR if draws is not None and leaves_arms_out(policy.rule) else 0.0
        if draws is not None or floor != 0:
            policy.check_propensities(DRAWS if draws is None else draws, floor)
        self._books = books
        self.rng = np.random.default_rng(None if seed is None else count("seed", seed))
        self.stock = NormalStock(self.rng)  # for single decisions
        is_timed = policy.belief.IS_TIMED
        self._is_thorough = draws is not None or books.journal is not None or is_timed
        self._answers_fit = policy.answers_fit
        self.draws = None if draws is None else int(draws)
        self.floor = float(floor)

    def decide_one(self, task: TaskName, arms: Any, id: str | None) -> Decision | None:
        """A decision for a task that was met before; None if it takes more than a choice.

        As `decide` of one task, and faster.
        """
        books = self._books
        state = books.state
        member = state.roster.known(task)
        if member is None or self._is_thorough:
            return None
        offer = state.catalogue.usual_offer(arms)
        if offer is None:
            return None
        ledger = state.ledger
        if len(ledger.pending) >= ledger.most_pending:
            ledger.check_room(1)
        new_id = ledger.new_id() if id is None else ledger.new_ids([id], 1)[0]
        now = books.clock()
        if type(now) is not float or now - now != 0.0:  # the quickest way to see if it is finite
            now = checked_now(now)
        table, names = offer
        luck = None if self._answers_fit else self._luck()
        try:
            place = state.policy._raw_choose_one(self.stock, member.node, table)
        except BaseException:
            self._put_back(luck)
            raise
        row: Any = table[place]
        if not row.ndim:
            row = int(row)
        elif arms is not None:
            row = row.copy()  # the reward, when it comes, is for these; its own arms never change
        entry = Entry(new_id, member, names[place], row, None, now, names)
        state.num_events += 1
        ledger.add(entry)
        return entry.decision

    def decide(
        self,
        tasks: Sequence[TaskName],
        arms: Any,
        eligible: Any,
        ids: Sequence[str] | None,
        best: bool,
    ) -> list[Decision]:
        """The decisions of one round, which await their rewards; see `Agent.decide_many`."""
        books, state = self._books, self._books.state
        if not isinstance(best, bool | np.bool_):
            raise ValueError(f"best must be True or False, got {best!r:.80}")
        best = bool(best)
        paths = books.paths(tasks)
        offered, names, playable = state.catalogue.offered(arms, len(paths), eligible)
        new_ids = state.ledger.new_ids(ids, len(paths))
        now = books.now()
        size, num_nodes = len(state.roster), state.belief.num_nodes
        is_safe = books.journal is None and state.policy.answers_fit
        luck = None if is_safe else self._luck()
        try:
            meet = state.roster.meet
            members = [meet(path) for path in paths]
            nodes = np.array([member.node for member in members], np.intp)
            choices, propensities = self._choose(nodes, offered, best, now)
            arms_chosen = [known[place] for known, place in zip(names, choices, strict=True)]
            rows = offered.features(choices)
            armed, entries = state.prior.is_armed, []
            for e, member in enumerate(members):
                row: Any = int(rows[e]) if armed else rows[e].copy()
                entry = Entry(
                    new_ids[e], member, arms_chosen[e], row, propensities[e], now, playable[e]
                )
                entries.append(entry)
            books.decide(entries, now, best=best)
        except BaseException:  # as if nothing had been asked
            state.roster.unmeet(size, num_nodes)
            state.count_decisions()
            self._put_back(luck)
            raise
        return [entry.decision for entry in entries]

    def _luck(self) -> tuple[Mapping[str, Any], Vector, int]:
        """The state of all random numbers, which a rule or a journal that fails must not change."""
        return self.rng.bit_generator.state, self.stock.block, self.stock.used

    def _put_back(self, luck: tuple[Mapping[str, Any], Vector, int] | None) -> None:
        """Give back the random numbers that were taken since."""
        if luck is not None:
            state, block, used = luck
            self.rng.bit_generator.state = state
            self.stock.put(block)
            self.stock.used = used

    def _choose(
        self, nodes: Indices, offered: Arms, best: bool, now: float
    ) -> tuple[Indices, Sequence[float | None]]:
        """The number of each event's arm, and its propensity if the agent is to know it."""
        policy, draws = self._books.state.policy, self.draws
        time = np.full(nodes.size, now) if policy.belief.IS_TIMED else None
        if best:
            choices, shares = policy._raw_choose_best(self.rng, nodes, offered, time=time)
        elif draws is not None:
            choices, shares = policy._raw_choose_with_propensities(
                self.rng, nodes, offered, draws=draws, floor=self.floor, time=time
            )
        else:
            choices = policy._raw_choose(self.rng, nodes, offered, time=time)
        return choices, [None] * nodes.size if draws is None else shares.tolist()
