"""Rows that are kept while rewards are corrected."""

import numpy as np
import pytest
from support.adaptive import adaptive_belief, drawn_events
from support.agent_lives import PRIORS
from support.states import belief_state

from hierbandits import Belief


@pytest.mark.parametrize("form", list(PRIORS))
def test_what_a_correction_changes_is_put_back(form):
    prior, rng = PRIORS[form], np.random.default_rng(0)
    belief = Belief(prior, (2,) * (prior.num_levels - 1), num_populations=3)
    tasks = rng.integers(2 ** (prior.num_levels - 1) * 3, size=40)
    features = rng.normal(size=(40, prior.dim))
    if prior.is_armed:
        features = rng.integers(prior.dim, size=40)
    rewards = rng.normal(size=40)
    belief.observe(tasks, features, rewards)
    before = belief_state(belief)
    put_back = belief._raw_keep(np.unique(tasks[[0, 7]]))
    for event in (0, 7):
        belief.revise(tasks[event], features[event], rewards[event], 5.0)
    assert belief_state(belief) != before
    put_back()
    put_back()
    assert belief_state(belief) == before


@pytest.mark.parametrize("armed", [True, False])
def test_sums_and_looks_are_put_back_too(armed):
    belief, _ = adaptive_belief(armed, None)
    tasks, features, rewards = drawn_events(1, 50, armed)
    belief.observe(tasks, features, rewards)
    before = belief_state(belief)
    put_back = belief._raw_keep(tasks[:1])
    belief.revise(tasks[0], features[0], rewards[0], 5.0)
    put_back()
    assert belief_state(belief) == before
