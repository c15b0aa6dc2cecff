"""What a policy expects of its choices, and the price of exploring."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierbandits.agent import Agent
from hierbandits.agent.decision import Decision
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.types import Name

_MOST_KEPT = 1000  # offers whose rows are kept


class Expected(NamedTuple):
    """What the belief says of an arm that was chosen, in the moment of the choice."""

    gap: float | None = None  # how far its mean reward is below the highest
    mean: float | None = None  # the posterior mean of its mean reward
    std: float | None = None  # and the standard deviation of that

    def put_in(self, parts: dict[str, Any]) -> None:
        """Let it be part of a decision; the ledger has no room for what is not known."""
        parts["gap"] = self.gap
        if self.mean is not None:
            parts["expected"], parts["expected_std"] = self.mean, self.std


class ExpectedRewards:
    """Asks the belief of an agent for the expected reward of every arm that was offered."""

    def __init__(self, agent: Agent, settings: PolicySettings) -> None:
        self._agent, self._own = agent, settings.arms
        self._rows: dict[tuple[Name, ...], NDArray[Any]] = {}  # of the policy's own arms

    def of(
        self, decisions: Sequence[Decision], arms: Sequence[Any], contexts: Sequence[Any] | None
    ) -> list[Expected]:
        """What is expected of each decision; no gap where a context makes the features of arms."""
        if not decisions:
            return []
        agent = self._agent
        nodes = [agent.node(one.task) for one in decisions]
        if contexts is not None:
            alone = agent.belief.mean_reward(nodes, [one.features for one in decisions])
            pairs = zip(alone.mean.tolist(), alone.std.tolist(), strict=True)
            return [Expected(None, mean, std) for mean, std in pairs]
        tables = [
            _table(given, one.offered) if isinstance(given, dict) else self._rows_in(one.offered)
            for one, given in zip(decisions, arms, strict=True)
        ]
        sizes = [len(table) for table in tables]
        reward = agent.belief.mean_reward(np.repeat(nodes, sizes), np.concatenate(tables))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        played = first + [one.offered.index(one.arm) for one in decisions]
        means, stds = reward.mean[played], reward.std[played]
        gaps = np.maximum.reduceat(reward.mean, first) - means
        columns = zip(gaps.tolist(), means.tolist(), stds.tolist(), strict=True)
        return [Expected(*row) for row in columns]

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
