"""What is known of mu without each task in turn."""

import numpy as np
import pytest
from support.learn_logs import CLOSE, FORMS, as_form, drawn, other_prior, posteriors, sums_of

from hierbandits import GaussianHierarchy, TaskSums
from hierbandits.learning.leave_one_out import without_each


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_posteriors_and_those_without_each_task_match_the_dense_joint(armed, populations):
    rows = drawn(4, armed=armed, populations=populations, events=6)
    prior, m = other_prior(rows), len(rows.theta)
    known = posteriors(prior, sums_of(rows), rows.population)
    joint = rows.joint(prior)
    means, covs, (left_mean, left_cov) = (
        known.means,
        known.covs,
        without_each(prior, sums_of(rows), known),
    )
    for p in range(populations):
        mean, cov = joint.of(m + p)
        np.testing.assert_allclose(known.hyper_mean[p], mean, **CLOSE)
        np.testing.assert_allclose(known.hyper_cov[p], as_form(rows, cov), **CLOSE)
    for s in range(m):
        mean, cov = joint.of(s)
        np.testing.assert_allclose(means[s], mean, **CLOSE)
        np.testing.assert_allclose(covs[s], as_form(rows, cov), **CLOSE)
        mean, cov = rows.joint(prior, rows.task != s).of(m + rows.population[s])
        np.testing.assert_allclose(left_mean[s], mean, **CLOSE)
        np.testing.assert_allclose(left_cov[s], as_form(rows, cov), **CLOSE)


def test_an_arm_that_one_task_alone_has_played_is_unknown_without_it():
    sums = TaskSums.zeros(3, 2, armed=True)
    sums.add([0, 1, 2, 2], [0, 0, 0, 1], [0.1, 0.2, 0.3, 9.0])
    wide = GaussianHierarchy.armed(2, hyper_std=1e6, task_std=1e-6, noise_std=1.0)
    mean, cov = without_each(wide, sums, posteriors(wide, sums, np.zeros(3, int)))
    assert (mean[2, 1], cov[2, 1]) == (0.0, 1e12)  # exactly the hyper-prior: nothing was rounded
    np.testing.assert_allclose(mean[2, 0], 0.15, rtol=1e-6)
