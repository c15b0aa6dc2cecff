"""Worlds by name, for sweeps from the command line."""

from hierbandits.environments import Environment, HierarchicalBandit
from hierbandits.experiments.experiment import paper_problem
from hierbandits.models.hierarchy import GaussianHierarchy

WORLDS: dict[str, Environment] = {
    "paper-a": paper_problem(0.5, 0.1),
    "paper-b": paper_problem(1.0, 0.1),
    "arms": HierarchicalBandit(
        hierarchy=GaussianHierarchy.armed(5, hyper_std=1.0, task_std=0.3, noise_std=0.5),
        num_tasks=10,
    ),
}
"""The two problems of the paper's figure, and ten tasks of five arms."""
