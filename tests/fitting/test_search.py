"""The two searches stop at the same top."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums, evenly, objective_of
from support.oracle import random_cov

from hierbandits import Belief
from hierbandits.fitting import fit_prior, search


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("populations", [1, 6])
def test_a_fit_climbs_to_a_top_whose_evidence_a_belief_confirms(structure, armed, populations):
    rng = np.random.default_rng(2)
    cov = np.diag([0.3, 0.1, 0.5, 0.2]) if armed else random_cov(rng, 4, 0.5)
    sums = drawn_sums(rng, tasks=12, events=9, task_cov=cov, noise=0.7, hyper_cov=np.eye(4),
                  mean=np.arange(4.0), populations=populations, armed=armed)  # fmt: skip
    fit = fit_prior(sums, population=evenly(sums, populations), structure=structure)
    assert fit.converged
    assert fit.iterations == len(fit.trace) - 1
    assert (np.diff(fit.trace) > -1e-9 * np.abs(fit.trace[-1])).all()
    assert fit.trace[-1] > fit.trace[0]
    belief = Belief.from_sums(fit.prior, sums, populations)
    np.testing.assert_allclose(belief.log_evidence().sum(), fit.log_evidence, rtol=1e-9)


@pytest.mark.parametrize(("structure", "armed"), [f for f in FORMS if f[0] != "low-rank"])
def test_em_and_lbfgs_stop_at_the_same_top(structure, armed, monkeypatch):
    rng = np.random.default_rng(3)
    cov = np.diag([0.3, 0.1, 0.5]) if armed else random_cov(rng, 3, 0.7)
    sums = drawn_sums(rng, tasks=15, events=12, task_cov=cov, noise=0.4, hyper_cov=np.eye(3),
                  mean=np.ones(3), populations=5, armed=armed)  # fmt: skip
    fit = fit_prior(sums, population=evenly(sums, 5), structure=structure, tolerance=1e-10)
    problem, units = objective_of(sums, 5, structure, monkeypatch)
    hierarchy, trace = search.em(problem, 3000, 1e-11)
    assert (np.diff(trace) > -1e-9).all()
    np.testing.assert_allclose(units.cov_out(hierarchy.task_cov), fit.prior.task_cov, atol=2e-4)
    np.testing.assert_allclose(units.cov_out(hierarchy.hyper_cov), fit.prior.hyper_cov, atol=2e-3)
    np.testing.assert_allclose(
        np.sqrt(hierarchy.noise_var) * units.reward, fit.prior.noise_std, 1e-4
    )


def test_too_few_iterations_are_admitted():
    rng = np.random.default_rng(13)
    sums = drawn_sums(rng, tasks=50, events=20, task_cov=1e-4 * np.eye(3), noise=0.5,
                  hyper_cov=np.eye(3), mean=np.ones(3))  # fmt: skip
    fit = fit_prior(sums, max_iterations=1)
    assert fit.iterations == 1
    assert not fit.converged
