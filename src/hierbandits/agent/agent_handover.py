"""What an agent hands over to another of its kind: what it assumes, knows and waits for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.agent.agent import Agent
from hierbandits.agent.decision import Decision
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs.encoder import Encoder
from hierbandits.models.model import Model
from hierbandits.policies.recipes import name_of
from hierbandits.types import Name, TaskName


@dataclass(frozen=True, slots=True, eq=False)
class AgentHandover:
    """All of an agent but its settled decisions, of which only the sums are left."""

    prior: Model
    encoder: Encoder | None
    rule: str | None  # None if the recipe has no name
    arms: list[Name] | dict[Name, list[float]] | None
    retired: list[Name]
    draws: int | None
    floor: float
    tasks: list[TaskName]
    sums: TaskSums  # a row for each task
    pending: list[Decision]

    @classmethod
    def of(cls, agent: Agent) -> "AgentHandover":
        """What an agent hands over; no other thread may use it meanwhile."""
        state, decider = agent._state, agent._decider
        own = state.catalogue.own
        arms: list[Name] | dict[Name, list[float]] | None = None
        if state.prior.is_armed:
            arms = list(state.catalogue.names)
        elif own is not None:
            arms = dict(zip(own.names, np.asarray(own.table).tolist(), strict=True))
        return cls(
            state.prior,
            state.catalogue.encoder,
            name_of(state.recipe),
            arms,
            sorted(state.catalogue.retired, key=str),
            decider.draws,
            decider.floor,
            agent.tasks,
            state.totals(),
            agent.pending,
        )

    def decided(self, decision: Decision) -> dict[str, Any]:
        """The event of a decision that awaits its reward."""
        return {
            "kind": "decide",
            "time": decision.time,
            "best": False,
            "decisions": [decision.to_dict()],
        }
