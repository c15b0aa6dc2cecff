"""The population of each task, as callers give it."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy, TaskSums, fit_prior
from hierbandits.beliefs.populations import checked_population

PRIOR = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.4)


def test_populations_are_counted_and_may_be_more_than_have_tasks():
    population, number = checked_population([2, 0, 2])
    assert (population.tolist(), number) == ([2, 0, 2], 3)
    assert checked_population([0, 4], 7)[1] == 7
    assert checked_population([], 3)[1] == 3
    assert checked_population([])[1] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1, 2], 2), "num_populations must be at least 3 to match population, got 2"),
        (([0, 1], 1, 3), "population must have one entry for each of 3 tasks, got 2"),
        (([0, 2],), r"population must be in \[0, 2\), got 2: there are 2 populations"),
        (([0, -1],), "population must be in"),
        (([[0, 1]],), "population must have shape"),
        (([0.5],), "population must be integers"),
    ],
)
def test_what_contradicts_itself_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        checked_population(*arguments)


def test_beliefs_sums_and_fits_say_the_same():
    sums = TaskSums.zeros(3, 2, armed=True)
    sums.add([0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0])
    for function in (Belief.from_sums, lambda _, sums, **more: fit_prior(sums, **more)):
        with pytest.raises(ValueError, match="population must have one entry for each of 3 tasks"):
            function(PRIOR, sums, population=[0, 1])
    with pytest.raises(ValueError, match="num_tasks must not come with population, got \\(9,\\)"):
        Belief.from_sums(PRIOR, sums, 1, (9,), population=[0, 1, 1])
    with pytest.raises(ValueError, match="num_populations must be at least 3"):
        Belief.from_sums(PRIOR, sums, 2, population=[0, 1, 2])
    for belief in (
        Belief.from_sums(PRIOR, sums, 7, population=[0, 1, 6]),
        Belief(PRIOR, 0, 7, population=[0, 1, 6]),
    ):
        assert belief.num_populations == 7
        np.testing.assert_array_equal(belief.hyper(5).mean, PRIOR.hyper_mean)
