"""What is known: posteriors over a forest of populations, groups and tasks."""

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.contribution import Contribution, merge_contributions
from hierbandits.beliefs.gaussian import Gaussian, Prediction, Uncertainty
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums

__all__ = [
    "AdaptiveBelief",
    "Belief",
    "Contribution",
    "Gaussian",
    "Posterior",
    "Prediction",
    "TaskSums",
    "Uncertainty",
    "merge_contributions",
]
