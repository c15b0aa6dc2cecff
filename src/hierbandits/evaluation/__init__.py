"""Offline evaluation of policies on logged data, and the best pessimistic policy of a log."""

from hierbandits.evaluation.diagnostics import Diagnostics
from hierbandits.evaluation.evaluation import Estimate, Evaluation
from hierbandits.evaluation.evaluator import evaluate
from hierbandits.evaluation.pessimistic_policy import PessimisticPolicy, hieropo
from hierbandits.evaluation.targets import METHODS, known_policies

__all__ = [
    "METHODS",
    "Diagnostics",
    "Estimate",
    "Evaluation",
    "PessimisticPolicy",
    "evaluate",
    "hieropo",
    "known_policies",
]
