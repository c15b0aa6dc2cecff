"""The prior of an agent, given or implied by its arms."""

import numpy as np
import pytest
from support.agents import ARMED, ARMS, LINEAR
from support.click_logs import click_log

from hierbandits import Agent, GaussianHierarchy, GeneralizedHierarchy, Start, learn_prior
from hierbandits.agent.agent_prior import agent_prior, prior_from_arms
from hierbandits.models import FAMILIES
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths


def test_a_prior_that_is_given_is_taken_as_it_is():
    for prior in (LINEAR, ARMED, UnknownWidths.of(2, armed=True)):
        assert agent_prior(prior, None, ARMS) == (prior, ARMS, None)
    assert agent_prior(None, 4, None)[0].dim == 4


def test_the_arms_that_a_prior_names_are_those_of_its_agent():
    prior = GaussianHierarchy.armed(
        arms=["a", "b", "c"],
        hyper_mean=[1.0, 2.0, 3.0],
        hyper_std=1.0,
        task_std=[0.1, 0.2, 0.3],
        noise_std=1.0,
    )
    assert agent_prior(prior, None, None) == (prior, ("a", "b", "c"), None)
    moved, arms, _ = agent_prior(prior, None, ["c", "a", "b"])
    assert (arms, moved.arms) == (["c", "a", "b"], ("c", "a", "b"))
    assert moved.hyper_mean.tolist() == [3.0, 1.0, 2.0]
    agents = [Agent(prior, seed=0, arms=arms) for arms in (None, ["c", "a", "b"])]
    for agent in agents:
        agent.learn(["t", "t"], ["c", "b"], [5.0, -1.0])
        assert agent.decide("t", best=True).arm == "c"
    rows = [dict(zip(agent.table()["arm"], agent.table()["mean"], strict=True)) for agent in agents]
    assert rows[0] == pytest.approx(rows[1])


@pytest.mark.parametrize("arms", [["a", "b"], ["a", "b", "d"], "abc", {"a": 1, "b": 2, "c": 3}, 3])
def test_other_names_than_the_prior_has_are_refused(arms):
    prior = GaussianHierarchy.armed(
        arms=["a", "b", "c"], hyper_std=1.0, task_std=0.5, noise_std=1.0
    )
    with pytest.raises(ValueError, match="arms must be"):
        Agent(prior, arms=arms)


@pytest.mark.parametrize(
    ("prior", "num_features", "message"),
    [
        (LINEAR, 2, "num_features must not be given with a prior, got 2"),
        (
            "LINEAR",
            None,
            "prior must be a GaussianHierarchy or UnknownWidths or .* got 'LINEAR'",
        ),
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


def test_a_start_of_a_family_is_told_no_other():
    clicks = Start(GeneralizedHierarchy(ARMED, "bernoulli"))
    for rewards in (None, "bernoulli", FAMILIES["bernoulli"]()):
        assert agent_prior(clicks, None, None, rewards)[0] is clicks.prior
    for rewards in ("gaussian", "poisson"):
        with pytest.raises(ValueError, match="rewards must be those of the prior, Bernoulli"):
            agent_prior(clicks, None, None, rewards)
    plain = Start(ARMED)
    assert agent_prior(plain, None, None, "gaussian")[0] is ARMED
    with pytest.raises(
        ValueError, match=r"start, .* as gaussian, got poisson: learn_prior\(.*'pois"
    ):
        agent_prior(plain, None, None, "poisson")


def test_open_widths_of_a_family_are_told_no_other():
    counts = UnknownFamilyWidths(UnknownWidths.of(2, armed=True), "poisson")
    assert agent_prior(counts, None, None, "poisson")[0] is counts
    with pytest.raises(ValueError, match="rewards must be those of the prior, Poisson"):
        agent_prior(counts, None, None, "gaussian")


def test_means_that_were_learned_as_gaussian_are_no_log_odds():
    """Click rates of 0.1 and 0.3 would become log odds."""
    log = click_log(2, rate=0.2)
    learned, _ = learn_prior(log.frame(), **log.arguments, structure="scalar", runs=0)
    with pytest.raises(ValueError, match=r"log odds .* as gaussian: learn_prior\(.*'bernoulli'\)"):
        Agent(learned, rewards="bernoulli")
    assert agent_prior(learned, None, None, "gaussian")[0] is learned
