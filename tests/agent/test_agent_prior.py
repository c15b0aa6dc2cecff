"""The prior of an agent, given or implied by its arms."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, LINEAR

from hierbandits.agent.agent_prior import agent_prior, prior_from_arms
from hierbandits.models.unknown_widths import UnknownWidths


def test_a_prior_that_is_given_is_taken_as_it_is():
    for prior in (LINEAR, ARMED, UnknownWidths.of(2, armed=True)):
        assert agent_prior(prior, None, ARMS) is prior
    assert agent_prior(None, 4, None).dim == 4


@pytest.mark.parametrize(
    ("prior", "num_features", "message"),
    [
        (LINEAR, 2, "num_features must not be given with a prior, got 2"),
        ("LINEAR", None, "prior must be a GaussianHierarchy or UnknownWidths, got 'LINEAR'"),
        (None, 0, "num_features must be a whole number of at least 1, got 0"),
        (None, None, "prior must be given, or num_features, or arms"),
    ],
)
def test_priors_that_are_refused(prior, num_features, message):
    with pytest.raises(ValueError, match=message):
        agent_prior(prior, num_features, None)


@pytest.mark.parametrize(
    ("arms", "num_features", "armed", "dim"),
    [
        (None, 4, False, 4),
        (["a", "b", "c"], None, True, 3),
        (range(5), None, True, 5),
        (ARMS, None, False, 2),
        (np.ones((3, 7)), None, False, 7),
        ([[1, 2, 3]], None, False, 3),
        (["a", "b"], 6, False, 6),
    ],
)
def test_the_form_of_an_agent_follows_from_its_arms(arms, num_features, armed, dim):
    prior = prior_from_arms(arms, num_features)
    assert (prior.is_armed, prior.dim, prior.noise_std) == (armed, dim, None)
