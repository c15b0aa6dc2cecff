"""Priors learned from logs, with a report on what was learned."""

from hierbandits.learning.learn import learn_prior
from hierbandits.learning.report import LearningReport

__all__ = ["LearningReport", "learn_prior"]
