"""The posteriors of all tasks in arrays."""

import numpy as np
import pytest
from support.oracle import full
from support.populations import POPULATION, D, random_events, random_prior
from support.worlds import FORMS

from hierbandits import Belief
from hierbandits.beliefs.task_posteriors import TaskPosteriors


@pytest.mark.parametrize("form", FORMS)
def test_the_posteriors_of_all_tasks_are_those_of_the_belief(form):
    rng = np.random.default_rng(3)
    prior, events = random_prior(rng, form), random_events(rng, form)
    belief = Belief(prior, population=POPULATION)
    belief.observe(*events)
    posteriors = TaskPosteriors.of(belief)
    assert posteriors.is_diagonal == (form == "armed")
    np.testing.assert_array_equal(posteriors.population, POPULATION)
    mu = rng.standard_normal(D)
    for task in range(POPULATION.size):
        cov, own = posteriors.covs[task], posteriors.within[task]
        gain = full(posteriors.gain[task])
        expected, given = belief.task(task), belief.task_given(task, mu)
        np.testing.assert_allclose(posteriors.means[task], expected.mean, rtol=1e-10)
        np.testing.assert_allclose(full(cov), expected.cov, rtol=1e-9)
        np.testing.assert_allclose(full(own), given.cov, rtol=1e-9)
        np.testing.assert_allclose(posteriors.own[task] + gain @ mu, given.mean, rtol=1e-9)
    with pytest.raises(ValueError, match="belief must have two levels, got 1"):
        TaskPosteriors.of(Belief(prior.with_levels(prior.hyper_mean, [prior.hyper_cov])))
