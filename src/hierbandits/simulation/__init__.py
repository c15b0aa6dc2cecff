"""Policies in worlds: schedules, simulated runs, and the regret that follows."""

from hierbandits.simulation.simulator import simulate
from hierbandits.simulation.study import Study

__all__ = ["Study", "simulate"]
