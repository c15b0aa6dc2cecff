"""Policies that learn the widths: their propensities, and what not knowing the widths costs."""

from functools import partial

import numpy as np
import pytest
from support.task_events import task_events

import hierbandits as hb
from hierbandits import POLICIES, Recipe
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.experiments.experiment import paper_problem
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.models.variants import unknown_widths
from hierbandits.policies.policy import Policy
from hierbandits.policies.thompson_rule import thompson
from hierbandits.simulation.schedules import Concurrent

D, TASKS = 3, 5
NOISE = {"known": 0.7, "unknown": None}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("populations", [1, 3])
def test_propensities_are_the_frequencies_of_choices(noise, populations):
    """What many draws at once choose is what draws one at a time do."""
    events = task_events(21, 12 * populations, True, tasks=TASKS, populations=populations)
    widths = UnknownWidths.of(D, armed=True, noise_std=noise, hyper_mean=[0.5, 0.0, -1.0])
    belief = AdaptiveBelief(widths, TASKS, populations)
    for task, arm, reward in zip(*events, strict=True):
        belief.observe([task], [arm], [reward])
    rng, policy = np.random.default_rng(22), Policy(belief, thompson)
    round_of = np.array([1, TASKS * populations - 1, 1])  # of two populations, if there are
    plain = np.array([policy.act(rng, round_of) for _ in range(2000)])
    frequency = np.array([np.bincount(column, minlength=D) / 2000 for column in plain.T])
    choices, shares = policy.act_with_propensities(rng, round_of, draws=4000)
    assert (choices[0], shares[0]) == (choices[2], shares[2])
    expected = frequency[np.arange(3), choices]
    error = np.sqrt(expected * (1 - expected) * (1 / 2000 + 1 / 4000))
    assert (expected > 0.1).all()
    assert (expected < 0.99).all()
    assert (np.abs(shares - expected) < 5 * error).all()


def test_learning_the_widths_costs_little_regret():
    """A fast look at what `reproduce adaptive` shows with 5,000 runs."""
    recipe = Recipe(partial(unknown_widths, noise_known=True), thompson, "noise known")
    policies = {"HierTS": POLICIES["HierTS"], "Adaptive": recipe, "TS": POLICIES["TS"]}
    study = hb.simulate(
        paper_problem(1.0, 0.1), policies, Concurrent(5), 100, 3, num_interactions=100
    )
    means = {name: study.mean(name)[0] for name in policies}
    assert means["Adaptive"] < 1.3 * means["HierTS"]
    assert means["Adaptive"] < 0.6 * means["TS"]
