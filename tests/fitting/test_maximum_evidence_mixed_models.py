"""Learned widths against statsmodels' MixedLM, which maximises the same likelihood.

MixedLM's fixed effects are mu and its random effects theta_s - mu, over the same features.

Maximum likelihood: with hyper_cov = 0 and hyper_mean at MixedLM's fixed effects our evidence is
its likelihood, exactly, and the best widths given the best mean are the best of both.

Restricted maximum likelihood integrates mu over a flat density.  Over N(0, hyper_cov) instead,
with f the fixed effects and F their covariance,

    log evidence = restricted log likelihood - (log det(2 pi hyper_cov)
                   + log det(I + F hyper_cov^-1) + f' (hyper_cov + F)^-1 f) / 2

of which the first part is constant and the rest falls with the square of the hyper-width.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM, MixedLMParams, VCSpec

from hierbandits import Belief, TaskSums
from hierbandits.fitting import fit_prior


@dataclass
class Data:
    """Rows of a world in which tasks have between 3 and 20 events."""

    tasks: np.ndarray
    x: np.ndarray
    y: np.ndarray

    def sums(self, armed):
        sums = TaskSums.zeros(self.tasks.max() + 1, self.x.shape[1], armed=armed)
        sums.add(self.tasks, self.x.argmax(1) if armed else self.x, self.y)
        return sums


def _data(case, seed=0, num_tasks=30):
    rng = np.random.default_rng(seed)
    tasks = np.repeat(np.arange(num_tasks), rng.integers(3, 21, num_tasks))
    d, cov = 3, np.array([[0.5, 0.1, 0.0], [0.1, 0.3, -0.1], [0.0, -0.1, 0.2]])
    if case == "intercept":
        d, cov, x = 1, np.array([[0.4]]), np.ones((tasks.size, 1))
    elif case == "arms":
        x = np.eye(d)[rng.integers(0, d, tasks.size)]
    else:
        x = np.column_stack([np.ones(tasks.size), rng.standard_normal((tasks.size, d - 1))])
    theta = rng.multivariate_normal(np.arange(1.0, d + 1), cov, num_tasks)
    y = (x * theta[tasks]).sum(1) + 0.7 * rng.standard_normal(tasks.size)
    return Data(tasks, x, y)


def _mixed(data, case, reml):
    """MixedLM's fit: its covariance, noise variance, fixed effects and log likelihood."""
    d = data.x.shape[1]
    if case == "scalar":  # one variance component whose effects are all features'
        parts = [data.x[data.tasks == s] for s in range(data.tasks.max() + 1)]
        names = [[f"x{j}" for j in range(d)]] * len(parts)
        spec = VCSpec(["task"], [names], [parts])
        model = MixedLM(data.y, data.x, data.tasks, exog_re=None, exog_vc=spec)
        found = model.fit(reml=reml, method="bfgs", gtol=1e-8)
        cov = found.vcomp[0] * np.eye(d)
    else:
        free = None
        if case in ("slopes, diagonal", "arms"):
            free = MixedLMParams.from_components(np.ones(d), np.eye(d))
        model = MixedLM(data.y, data.x, data.tasks, exog_re=data.x)
        found = model.fit(reml=reml, free=free, method="bfgs", gtol=1e-8)
        cov = np.asarray(found.cov_re)
    assert found.converged
    return cov, float(found.scale), np.asarray(found.fe_params), float(found.llf)


STRUCTURE = {
    "intercept": "full",
    "slopes, full": "full",
    "slopes, diagonal": "diagonal",
    "scalar": "scalar",
    "arms": "diagonal",
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_maximum_likelihood_is_that_of_mixed_models(case):
    data, armed = _data(case), case == "arms"
    cov, noise_var, mean, log_likelihood = _mixed(data, case, reml=False)
    none = np.zeros(len(mean) if armed else (len(mean), len(mean)))
    fit = fit_prior(data.sums(armed), structure=STRUCTURE[case], hyper_mean=mean, hyper_cov=none,
                    weak_priors=False, tolerance=1e-10)  # fmt: skip
    ours = np.diag(fit.prior.task_cov) if armed else fit.prior.task_cov
    np.testing.assert_allclose(ours, cov, rtol=1e-5, atol=1e-5 * cov.max())
    np.testing.assert_allclose(fit.prior.noise_std**2, noise_var, rtol=1e-6)
    np.testing.assert_allclose(fit.log_evidence, log_likelihood, atol=1e-6)
    assert fit.log_evidence > log_likelihood - 1e-8


@pytest.mark.parametrize("case", STRUCTURE)
def test_a_wide_hyper_prior_is_restricted_maximum_likelihood(case):
    data, armed = _data(case, seed=1), case == "arms"
    cov, noise_var, mean, log_likelihood = _mixed(data, case, reml=True)
    sums = data.sums(armed)
    fit = fit_prior(sums, structure=STRUCTURE[case], weak_priors=False, tolerance=1e-10)
    ours = np.diag(fit.prior.task_cov) if armed else fit.prior.task_cov
    np.testing.assert_allclose(ours, cov, rtol=1e-5, atol=1e-5 * cov.max())
    np.testing.assert_allclose(fit.prior.noise_std**2, noise_var, rtol=1e-6)
    wide = fit.hyper_widths.std**2
    constant = -np.log(2 * np.pi * wide).sum() / 2
    np.testing.assert_allclose(fit.log_evidence, log_likelihood + constant, atol=2e-4)
    np.testing.assert_allclose(  # what is left is the second-order term of the file's docstring
        fit.log_evidence, log_likelihood + constant - (mean**2 / wide).sum() / 2, atol=1e-5
    )
    theirs = _hierarchy(fit.prior, cov, noise_var)
    evidence = Belief.from_sums(theirs, sums).log_evidence()[0]
    assert fit.log_evidence > evidence - 1e-8


def _hierarchy(like, task_cov, noise_var):
    """The same hyper-prior with other widths."""
    task_cov = np.diagonal(task_cov) if like.is_armed else task_cov
    return like.with_levels(like.hyper_mean, [like.hyper_cov, task_cov], np.sqrt(noise_var))


@pytest.mark.parametrize("width", [1e2, 1e3, 1e4])
def test_the_rest_of_restricted_likelihood_falls_with_the_hyper_width(width):
    data = _data("slopes, full", seed=2)
    cov, noise_var, mean, log_likelihood = _mixed(data, "slopes, full", reml=True)
    fit = fit_prior(data.sums(False), structure="full", hyper_mean=np.zeros(3),
                    hyper_cov=width**2 * np.eye(3), weak_priors=False, tolerance=1e-10)  # fmt: skip
    constant = -3 / 2 * np.log(2 * np.pi * width**2)
    np.testing.assert_allclose(
        fit.log_evidence - constant - log_likelihood, -mean @ mean / 2 / width**2,
        rtol=0.02, atol=3e-8,
    )  # fmt: skip
    np.testing.assert_allclose(fit.prior.task_cov, cov, rtol=1e-5, atol=1e-5 * cov.max())
    np.testing.assert_allclose(fit.prior.noise_std**2, noise_var, rtol=1e-6)
