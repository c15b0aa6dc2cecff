"""One policy for people: named tasks and arms, decision ids, late rewards, files."""

from hierbandits.agent.agent import Agent
from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.decision_batch import DecidedBatch, decide_batch
from hierbandits.agent.kernel_warm_up import warm_up
from hierbandits.agent.reward_batch import RewardedBatch, reward_batch

__all__ = [
    "Agent",
    "DecidedBatch",
    "Decision",
    "RewardConflict",
    "RewardedBatch",
    "UnknownDecision",
    "decide_batch",
    "reward_batch",
    "warm_up",
]
