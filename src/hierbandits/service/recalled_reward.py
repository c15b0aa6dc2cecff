"""Rewards of decisions that an agent may have forgotten, and the ledger has not."""

from typing import Any

from hierbandits.agent import Agent
from hierbandits.agent.decision import Decision


def learn_recalled(agent: Agent, parts: dict[str, Any], value: float) -> dict[str, str]:
    """Let an agent learn the reward of a stored decision, in place of the one that it has, if any.

    Returns what is to be added to the event.
    """
    one, was = Decision.from_dict(parts), parts["reward"]
    if was is not None:
        agent.correct(one.id, value, forgotten=(one, was))
        return {}
    agent.learn([one.task], [one.arm if agent.prior.is_armed else one.features], [value])
    return {"late": one.id}
