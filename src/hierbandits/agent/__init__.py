"""One policy for people: named tasks and arms, decision ids, late rewards, files."""

from hierbandits.agent.agent import Agent
from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision

__all__ = ["Agent", "Decision", "RewardConflict", "UnknownDecision"]
