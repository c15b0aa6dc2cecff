"""What a fit maximises, and its gradient."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums, objective_of
from support.oracle import random_cov


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("populations", [1, 3])
def test_the_gradient_is_the_slope_of_evidence_and_weak_priors(
    structure, armed, populations, monkeypatch
):
    rng = np.random.default_rng(1)
    cov = np.diag([0.3, 0.1, 0.5, 0.2]) if armed else random_cov(rng, 4, 0.5)
    sums = drawn_sums(rng, tasks=4, events=5, task_cov=cov, noise=0.7, hyper_cov=np.eye(4),
                  mean=np.arange(4.0), populations=populations, armed=armed)  # fmt: skip
    problem, _ = objective_of(sums, populations, structure, monkeypatch, rank=2)
    free = problem.free(problem.start)
    free = free + 0.3 * rng.standard_normal(free.size)
    value, slope = problem.value_and_slope(free)
    hierarchy = problem.hierarchy(free)
    expected = problem.expectation(hierarchy).log_evidence + problem.log_prior(hierarchy)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert slope.size == len(problem.bounds()) == len(problem.steps())
    for i, move in enumerate(1e-5 * np.eye(free.size)):
        ahead, behind = (problem.value_and_slope(free + s * move)[0] for s in (1, -1))
        np.testing.assert_allclose(slope[i], (ahead - behind) / 2e-5, rtol=2e-6, atol=2e-5)
