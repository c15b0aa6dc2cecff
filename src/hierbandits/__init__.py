"""Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""

from hierbandits import bounds, datasets
from hierbandits.adaptive import AdaptiveBelief
from hierbandits.agent import Agent
from hierbandits.arms import Arms
from hierbandits.belief import Belief
from hierbandits.contribution import Contribution, merge
from hierbandits.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.evaluation import Evaluation, evaluate, hieropo
from hierbandits.exploration import SpanningArms
from hierbandits.gaussian import Gaussian
from hierbandits.hierarchy import GaussianHierarchy
from hierbandits.learning import LearningReport, learn_prior
from hierbandits.logs import Columns, Log
from hierbandits.policies import POLICIES, Policy, Recipe
from hierbandits.simulate import simulate
from hierbandits.study import Study
from hierbandits.sums import TaskSums
from hierbandits.widths import UnknownWidths

__version__ = "0.1.0"

__all__ = [
    "POLICIES",
    "AdaptiveBelief",
    "Agent",
    "Arms",
    "Belief",
    "Columns",
    "Contribution",
    "Decision",
    "Evaluation",
    "Gaussian",
    "GaussianHierarchy",
    "LearningReport",
    "Log",
    "Policy",
    "Recipe",
    "RewardConflict",
    "SpanningArms",
    "Study",
    "TaskSums",
    "UnknownDecision",
    "UnknownWidths",
    "bounds",
    "datasets",
    "evaluate",
    "hieropo",
    "learn_prior",
    "merge",
    "simulate",
]
