"""Priors learned from logs, with a report on what was learned."""

from hierbandits.learning.learner import learn_prior
from hierbandits.learning.learning_report import LearningReport

__all__ = ["LearningReport", "learn_prior"]
