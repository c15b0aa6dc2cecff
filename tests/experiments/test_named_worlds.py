"""Worlds by name: those of the paper, and one of arms."""

from hierbandits import simulate
from hierbandits.experiments import WORLDS
from hierbandits.experiments.experiment import paper_problem
from hierbandits.simulation.schedules import Federated


def test_the_papers_worlds_have_the_widths_of_its_panels():
    for name, width in (("paper-a", 0.5), ("paper-b", 1.0)):
        study, expected = (
            simulate(world, ["HierTS"], Federated(), 2, num_interactions=3)
            for world in (WORLDS[name], paper_problem(width, 0.1))
        )
        assert study.mean("HierTS") == expected.mean("HierTS")


def test_the_world_of_arms_is_armed():
    assert WORLDS["arms"].prior.is_armed
    assert WORLDS["arms"].num_tasks == 10
