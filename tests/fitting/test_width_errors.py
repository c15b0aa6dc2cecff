"""Standard errors of log widths."""

import numpy as np
from support.fits import one_way

from hierbandits.fitting import fit_prior


def test_errors_are_those_of_the_log_likelihoods_curvature():
    """One way, balanced, by textbook: the information of the two mean squares."""
    m, n = 40, 8
    sums, between, within, _ = one_way(np.random.default_rng(22), m, n, 0.6)
    fit = fit_prior(sums, weak_priors=False, tolerance=1e-11)
    # between ~ B chi2(m-1) / (m-1), B = noise + n task; within ~ noise chi2(m(n-1)) / (m(n-1))
    task, noise = fit.prior.task_cov[0], fit.prior.noise_std**2
    spread = 2 * between**2 / (m - 1), 2 * within**2 / (m * (n - 1))
    noise_error = np.sqrt(spread[1]) / noise / 2
    task_error = np.sqrt(spread[0] + spread[1]) / n / task / 2
    np.testing.assert_allclose(fit.noise_width.log_error, noise_error, rtol=1e-3)
    np.testing.assert_allclose(fit.task_widths.log_error, task_error, rtol=1e-3)
