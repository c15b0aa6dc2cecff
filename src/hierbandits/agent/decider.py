"""Who makes the decisions of an agent, a round at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.decision import Decision
from hierbandits.agent.ledger import Entry
from hierbandits.policies.arms import Arms
from hierbandits.policies.policy import DRAWS
from hierbandits.types import Indices, TaskName


class Decider:
    """Chooses arms by the agent's policy, with the agent's random numbers.

    Propensities are on if `draws` or a floor asks for them.  With a journal they are on if the
    policy's rule gives any.
    """

    def __init__(
        self, books: Bookkeeper, seed: int | None, draws: int | None, floor: float
    ) -> None:
        policy = books.state.policy
        if draws is None:
            has_journal = books.journal is not None and policy.gives_propensities
            draws = DRAWS if has_journal or floor != 0 else None
        if draws is not None:
            policy.check_propensities(draws, floor)
        self._books = books
        self.rng = np.random.default_rng(seed)
        self.draws = None if draws is None else int(draws)
        self.floor = float(floor)

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
        paths = books.paths(tasks)
        offered, names, playable = state.catalogue.offered(arms, len(paths), eligible)
        new_ids = state.ledger.new_ids(ids, len(paths))
        now = books.clock()
        size, num_nodes = len(state.roster), state.belief.num_nodes
        luck = None if books.journal is None else self.rng.bit_generator.state
        try:
            meet = state.roster.meet
            members = [meet(path) for path in paths]
            nodes = np.array([member.node for member in members], np.intp)
            choices, propensities = self._choose(nodes, offered, best)
            arms_chosen = [known[place] for known, place in zip(names, choices, strict=True)]
            rows = offered.features(choices)
            features: list[Any] = rows.tolist()
            armed, entries = state.prior.is_armed, []
            for e, member in enumerate(members):
                own: Any = features[e] if armed else tuple(features[e])
                decision = Decision(
                    new_ids[e], member.task, arms_chosen[e], own, propensities[e], now, playable[e]
                )
                entries.append(Entry(decision, member, own if armed else rows[e]))
            books.decide(entries, now, best=best)
        except BaseException:  # as if nothing had been asked
            state.roster.unmeet(size, num_nodes)
            state.count_decisions()
            if luck is not None:
                self.rng.bit_generator.state = luck
            raise
        return [entry.decision for entry in entries]

    def _choose(
        self, nodes: Indices, offered: Arms, best: bool
    ) -> tuple[Indices, Sequence[float | None]]:
        """The number of each event's arm, and its propensity if the agent is to know it."""
        policy, draws = self._books.state.policy, self.draws
        if best:
            choices, shares = policy.choose_best(self.rng, nodes, offered)
        elif draws is not None:
            choices, shares = policy.choose_with_propensities(
                self.rng, nodes, offered, draws=draws, floor=self.floor
            )
        else:
            choices = policy.choose(self.rng, nodes, offered)
        return choices, [None] * nodes.size if draws is None else shares.tolist()
