"""Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""

from hierbandits.belief import Belief
from hierbandits.contribution import Contribution, merge
from hierbandits.gaussian import Gaussian
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.sums import TaskSums

__version__ = "0.1.0"

__all__ = [
    "Belief",
    "Contribution",
    "Gaussian",
    "GaussianHierarchy",
    "TaskSums",
    "merge",
]
