"""Worlds that generate rewards and know the truth."""

from hierbandits.environments.actions import ActionSets, SampledActions
from hierbandits.environments.digits import DigitBandit
from hierbandits.environments.environment import Environment, Worlds
from hierbandits.environments.hierarchical import HierarchicalBandit
from hierbandits.environments.known import KnownBandit

__all__ = [
    "ActionSets",
    "DigitBandit",
    "Environment",
    "HierarchicalBandit",
    "KnownBandit",
    "SampledActions",
    "Worlds",
]
