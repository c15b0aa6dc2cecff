"""One policy for people: named tasks and arms, decision ids, late rewards, files."""

from hierbandits.agent.agent import Agent
from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.kernel_warm_up import warm_up

__all__ = ["Agent", "Decision", "RewardConflict", "UnknownDecision", "warm_up"]
