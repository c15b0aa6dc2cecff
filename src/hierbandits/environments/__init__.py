"""Environments: they generate rewards and know the truth, from which regret is measured."""

from hierbandits.environments.action_sets import ActionSets, SampledActions
from hierbandits.environments.digit_bandit import DigitBandit
from hierbandits.environments.environment import Environment, Worlds
from hierbandits.environments.hierarchical_bandit import HierarchicalBandit
from hierbandits.environments.known_bandit import KnownBandit

__all__ = [
    "ActionSets",
    "DigitBandit",
    "Environment",
    "HierarchicalBandit",
    "KnownBandit",
    "SampledActions",
    "Worlds",
]
