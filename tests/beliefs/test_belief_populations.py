"""Populations of any size in one belief: as if each had a belief of its own."""

import numpy as np
import pytest
from support.oracle import random_cov
from support.populations import POPULATION, D, random_events, random_prior
from support.worlds import FORMS

from hierbandits import AdaptiveBelief, Belief, GaussianHierarchy, TaskSums, UnknownWidths


def _apart(prior, tasks, features, rewards, population):
    """The belief of one population alone, and its tasks."""
    mine = np.flatnonzero(population == POPULATION)
    own = Belief(prior, mine.size)
    chosen = np.isin(tasks, mine)
    own.observe(np.searchsorted(mine, tasks[chosen]), features[chosen], rewards[chosen])
    return own, mine


@pytest.mark.parametrize("form", FORMS)
def test_uneven_populations_are_as_if_apart(form):
    rng = np.random.default_rng(0)
    prior, events = random_prior(rng, form), random_events(rng, form)
    belief = Belief(prior, population=POPULATION)
    assert (belief.num_populations, belief.num_nodes) == (3, 10)
    belief.observe(*events)
    for population in range(3):
        own, mine = _apart(prior, *events, population)
        np.testing.assert_array_equal(belief.hyper(population).cov, own.hyper().cov)
        assert belief.log_evidence()[population] == own.log_evidence()[0]
        for place, task in enumerate(mine):
            np.testing.assert_array_equal(belief.task(task).mean, own.task(place).mean)


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_uneven_populations_are_as_if_observed(form):
    rng = np.random.default_rng(1)
    prior, events = random_prior(rng, form), random_events(rng, form)
    sums = TaskSums.zeros(POPULATION.size, D, armed=form != "linear")
    sums.add(*events)
    warm = Belief.from_sums(prior, sums, population=POPULATION)
    belief = Belief(prior, population=POPULATION)
    belief.observe(*events)
    for node in range(belief.num_nodes):
        np.testing.assert_allclose(warm.task(node).mean, belief.task(node).mean, rtol=1e-9)
        np.testing.assert_allclose(warm.task(node).cov, belief.task(node).cov, rtol=1e-8)
    np.testing.assert_allclose(warm.log_evidence(), belief.log_evidence())


def test_tasks_of_a_single_level_are_pooled_by_population():
    rng = np.random.default_rng(2)
    tasks, features, rewards = random_events(rng, "linear")
    pooled = GaussianHierarchy.deep(
        hyper_mean=np.zeros(D), covs=[random_cov(rng, D)], noise_std=0.6
    )
    sums = TaskSums.zeros(POPULATION.size, D)
    sums.add(tasks, features, rewards)
    warm = Belief.from_sums(pooled, sums, population=POPULATION)
    belief = Belief(pooled, num_populations=3)
    belief.observe(POPULATION[tasks], features, rewards)
    assert warm.num_nodes == 3
    for population in range(3):
        expected = belief.hyper(population)
        np.testing.assert_allclose(warm.hyper(population).mean, expected.mean, rtol=1e-9)


def test_an_adaptive_belief_takes_uneven_populations_too():
    rng = np.random.default_rng(4)
    events = random_events(rng, "armed", size=120)
    belief = AdaptiveBelief(UnknownWidths.of(D, armed=True), population=POPULATION)
    belief.observe(*events)
    for population in range(3):
        mine = np.flatnonzero(population == POPULATION)
        chosen = np.isin(events[0], mine)
        own = AdaptiveBelief(UnknownWidths.of(D, armed=True), mine.size)
        own.observe(np.searchsorted(mine, events[0][chosen]), events[1][chosen], events[2][chosen])
        np.testing.assert_allclose(
            belief.task(int(mine[0])).mean, own.task(0).mean, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"population": [0, 1], "num_tasks": 2}, "population must come with one hierarchy"),
        ({"population": [0, 5]}, r"population must be in \[0, 2\), got 5"),
        ({"population": [0, -1]}, "population must be in"),
        ({"population": [0.0, 1.0]}, "population must be integers"),
    ],
)
def test_bad_populations_are_named(arguments, message):
    prior = random_prior(np.random.default_rng(5), "armed")
    with pytest.raises(ValueError, match=message):
        Belief(prior, **arguments)


def test_more_populations_than_tasks_are_left_empty():
    prior = random_prior(np.random.default_rng(6), "armed")
    belief = Belief(prior, num_populations=4, population=[0, 0, 2])
    assert (belief.num_populations, belief.num_nodes) == (4, 7)
    np.testing.assert_array_equal(belief.hyper(3).mean, prior.hyper_mean)
