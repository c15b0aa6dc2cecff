"""Policies in environments: which tasks act when, the simulator, and the regret that follows."""

from hierbandits.simulation import schedules
from hierbandits.simulation.plots import error_bars, regret_curves
from hierbandits.simulation.schedules import (
    Arriving,
    Concurrent,
    Custom,
    Federated,
    MetaLearning,
    MultiTask,
    Schedule,
    Sequential,
)
from hierbandits.simulation.simulator import simulate
from hierbandits.simulation.study import Outcome, Study
from hierbandits.simulation.sweep import Sweep, sweep

__all__ = [
    "Arriving",
    "Concurrent",
    "Custom",
    "Federated",
    "MetaLearning",
    "MultiTask",
    "Outcome",
    "Schedule",
    "Sequential",
    "Study",
    "Sweep",
    "error_bars",
    "regret_curves",
    "schedules",
    "simulate",
    "sweep",
]
