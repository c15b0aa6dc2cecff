"""Hierarchical Bayesian bandits: act well in many similar tasks, each teaching all others."""

from hierbandits import bounds, datasets, environments
from hierbandits.agent import Agent, Decision, RewardConflict, UnknownDecision, warm_up
from hierbandits.beliefs import (
    AdaptiveBelief,
    Belief,
    Contribution,
    Gaussian,
    GridBelief,
    MatchedBelief,
    MeanReward,
    Posterior,
    Prediction,
    TaskSums,
    merge_contributions,
)
from hierbandits.client import AsyncClient, Client
from hierbandits.evaluation import Evaluation, evaluate, hieropo
from hierbandits.fitting import fit_prior
from hierbandits.learning import LearningReport, learn_prior
from hierbandits.logs import Columns, Encoder, Inspection, Limits, Log, Reading, Start, inspect
from hierbandits.models import (
    FAMILIES,
    BetaHierarchy,
    GammaHierarchy,
    GaussianHierarchy,
    GeneralizedHierarchy,
    RewardFamily,
    UnknownWidths,
)
from hierbandits.policies import POLICIES, Arms, Policy, Recipe, SpanningArms
from hierbandits.simulation import Study, Sweep, schedules, simulate, sweep

__version__ = "0.1.0"

__all__ = [
    "FAMILIES",
    "POLICIES",
    "AdaptiveBelief",
    "Agent",
    "Arms",
    "AsyncClient",
    "Belief",
    "BetaHierarchy",
    "Client",
    "Columns",
    "Contribution",
    "Decision",
    "Encoder",
    "Evaluation",
    "GammaHierarchy",
    "Gaussian",
    "GaussianHierarchy",
    "GeneralizedHierarchy",
    "GridBelief",
    "Inspection",
    "LearningReport",
    "Limits",
    "Log",
    "MatchedBelief",
    "MeanReward",
    "Policy",
    "Posterior",
    "Prediction",
    "Reading",
    "Recipe",
    "RewardConflict",
    "RewardFamily",
    "SpanningArms",
    "Start",
    "Study",
    "Sweep",
    "TaskSums",
    "UnknownDecision",
    "UnknownWidths",
    "bounds",
    "datasets",
    "environments",
    "evaluate",
    "fit_prior",
    "hieropo",
    "inspect",
    "learn_prior",
    "merge_contributions",
    "schedules",
    "simulate",
    "sweep",
    "warm_up",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return [*__all__, "__doc__", "__version__"]
