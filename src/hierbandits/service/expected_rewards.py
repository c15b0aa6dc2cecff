"""The price of exploring: how far the expected reward of a choice is below the highest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent import Agent
from hierbandits.agent.decision import Decision
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.types import Name

_MOST_KEPT = 1000  # offers whose rows are kept


class ExpectedRewards:
    """Asks the belief of an agent for the expected reward of every arm that was offered."""

    def __init__(self, agent: Agent, settings: PolicySettings) -> None:
        self._agent, self._own = agent, settings.arms
        self._rows: dict[tuple[Name, ...], NDArray[Any]] = {}  # of the policy's own arms

    def gaps(
        self, decisions: Sequence[Decision], arms: Sequence[Any], contexts: Sequence[Any] | None
    ) -> list[float | None]:
        """The gap of each decision; None where a context makes the features of arms."""
        if contexts is not None or not decisions:
            return [None] * len(decisions)
        agent = self._agent
        tables = [
            _table(given, one.offered) if isinstance(given, dict) else self._rows_in(one.offered)
            for one, given in zip(decisions, arms, strict=True)
        ]
        sizes = [len(table) for table in tables]
        nodes = np.repeat([agent.node(one.task) for one in decisions], sizes)
        means = agent.belief.mean_reward(nodes, np.concatenate(tables)).mean
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        played = first + [one.offered.index(one.arm) for one in decisions]
        gaps: list[float | None] = (np.maximum.reduceat(means, first) - means[played]).tolist()
        return gaps

    def _rows_in(self, offered: tuple[Name, ...]) -> NDArray[Any]:
        """The features, or the indices, of some of the policy's own arms."""
        rows = self._rows.get(offered)
        if rows is None:
            if isinstance(self._own, dict):
                rows = _table(self._own, offered)
            else:
                place = {name: i for i, name in enumerate(self._agent.arms or ())}
                rows = np.array([place[name] for name in offered], np.intp)
            if len(self._rows) >= _MOST_KEPT:
                self._rows.clear()
            self._rows[offered] = rows
        return rows


def _table(arms: dict[str, Any], offered: tuple[Name, ...]) -> NDArray[Any]:
    return np.array([arms[str(name)] for name in offered], float)
