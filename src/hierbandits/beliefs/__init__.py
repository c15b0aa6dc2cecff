"""What is known: posteriors over a forest of populations, groups and tasks."""

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.contribution import Contribution, merge_contributions
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.grid_belief import GridBelief
from hierbandits.beliefs.hyper_cells import HyperCells
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.mean_reward import MeanReward
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.refit import Refit
from hierbandits.beliefs.task_sums import TaskSums

__all__ = [
    "AdaptiveBelief",
    "Belief",
    "Contribution",
    "Gaussian",
    "GridBelief",
    "HyperCells",
    "MatchedBelief",
    "MeanReward",
    "Posterior",
    "Prediction",
    "Refit",
    "TaskSums",
    "Uncertainty",
    "merge_contributions",
]
