"""Widths learned from sums: recovered, as in textbooks, and finite for degenerate logs."""

import numpy as np
import pytest
from support.fits import FORMS, drawn_sums, evenly, one_way, uneven_sums
from support.oracle import full

from hierbandits import Belief, TaskSums
from hierbandits.fitting import fit_prior
from hierbandits.models.stated_covs import parts_in_common


def _degenerate(case, armed):
    """Six tasks of five features with next to no data, or data of one value."""
    rng = np.random.default_rng(10)
    d, m = 5, 6
    sums = TaskSums.zeros(m, d, armed=armed)
    size = {"none": 0, "one event": 1, "one task": 40, "wide": m}.get(case, 60)
    tasks = np.arange(size) % m if case in ("constant", "zero", "wide") else np.zeros(size, int)
    x = rng.integers(0, d, size) if armed else rng.standard_normal((size, d))
    y = {"constant": 3.7, "zero": 0.0}.get(case, rng.standard_normal(size)) * np.ones(size)
    sums.add(tasks, x, y)
    return sums


@pytest.mark.parametrize(("structure", "armed"), FORMS)
def test_widths_are_recovered_better_from_more_tasks(structure, armed):
    rng = np.random.default_rng(5)
    stds = np.full(3, 0.3) if structure == "scalar" else np.array([0.2, 0.4, 0.8])
    cov = np.diag(stds**2)
    if structure in ("full", "low-rank"):
        loading = np.array([0.3, -0.6, 0.5])
        cov = cov + np.outer(loading, loading)
    errors = []
    for tasks in (25, 2500):
        sums = drawn_sums(rng, tasks=tasks, events=30, task_cov=cov, noise=0.5, hyper_cov=np.eye(3),
                      mean=np.array([1.0, -2.0, 3.0]), armed=armed)  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        errors.append(np.abs(full(fit.prior.task_cov) - cov).max() / cov.max())
        logs = np.log(fit.task_widths.std / np.sqrt(np.diagonal(cov)))
        assert (np.abs(logs) < 6 * fit.task_widths.log_error).all()
        noise = np.log(fit.noise_width.std / 0.5)
        assert abs(noise[0]) < 6 * fit.noise_width.log_error[0]
        assert fit.converged
    assert errors[1] < 0.12
    assert errors[1] < errors[0]


def test_the_hyper_prior_of_many_populations_is_recovered():
    rng = np.random.default_rng(6)
    mean, hyper = np.array([1.0, -2.0]), np.array([[1.0, 0.5], [0.5, 2.0]])
    sums = drawn_sums(rng, tasks=10, events=15, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=hyper, mean=mean, populations=500)  # fmt: skip
    fit = fit_prior(sums, population=evenly(sums, 500), structure="full")
    np.testing.assert_allclose(fit.prior.hyper_mean, mean, atol=6 * np.sqrt(2 / 500))
    np.testing.assert_allclose(fit.prior.hyper_cov, hyper, atol=6 * 2 * np.sqrt(2 / 500))
    assert (np.abs(np.log(fit.hyper_widths.std**2 / [1.0, 2.0]) / 2) < 6 / np.sqrt(1000)).all()
    np.testing.assert_allclose(fit.hyper_widths.log_error, 1 / np.sqrt(1000), rtol=0.1)
    known = fit_prior(sums, population=evenly(sums, 500), structure="full", hyper_mean=mean,
                      hyper_cov=hyper, noise_std=0.5)  # fmt: skip
    np.testing.assert_array_equal(known.prior.hyper_mean, mean)
    np.testing.assert_allclose(known.prior.hyper_cov, hyper, rtol=1e-12)
    np.testing.assert_allclose(known.prior.noise_std, 0.5, rtol=1e-12)
    assert np.isnan(known.noise_width.log_error).all()
    assert np.isnan(known.hyper_widths.log_error).all()


def test_a_balanced_one_way_layout_has_the_textbook_answer():
    """With one arm and n rewards per task, REML is (between - within) / n; ours is near it."""
    rng = np.random.default_rng(8)
    m, n = 400, 10
    y = 3.0 + 0.6 * rng.standard_normal((m, 1)) + 0.9 * rng.standard_normal((m, n))
    sums = TaskSums.zeros(m, 1, armed=True)
    sums.add(np.repeat(np.arange(m), n), np.zeros(m * n, int), y.ravel())
    within = ((y - y.mean(1, keepdims=True)) ** 2).sum() / (m * (n - 1))
    between = n * y.mean(1).var(ddof=1)
    fit = fit_prior(sums)
    # The weak prior's slope, (1 - v / unit) / 2, moves the top by about that many tasks' worth.
    np.testing.assert_allclose(fit.prior.task_cov, (between - within) / n, rtol=2 / m)
    np.testing.assert_allclose(fit.prior.noise_std**2, within, rtol=1e-3)


def test_without_weak_priors_a_one_way_layout_is_the_textbooks_exactly():
    sums, between, within, _ = one_way(np.random.default_rng(19), 25, 6, 0.6)
    fit = fit_prior(sums, weak_priors=False, tolerance=1e-10)
    np.testing.assert_allclose(fit.prior.task_cov, (between - within) / 6, rtol=1e-5)
    np.testing.assert_allclose(fit.prior.noise_std**2, within, rtol=1e-5)
    assert not fit.at_bound
    assert fit.trace[-1] == pytest.approx(fit.log_evidence, rel=1e-12)


@pytest.mark.parametrize("structure", ["scalar", "diagonal"])
def test_a_width_that_is_best_at_zero_sits_at_its_bound(structure):
    """Tasks more alike than the noise allows: the noise is then that of all rewards together."""
    rng = np.random.default_rng(20)
    while True:
        sums, between, within, y = one_way(rng, 25, 6, 0.0)
        if between < 0.9 * within:
            break
    fit = fit_prior(sums, structure=structure, weak_priors=False, tolerance=1e-10)
    assert fit.at_bound
    assert fit.task_widths.at_bound.all()
    assert fit.task_widths.maybe_zero.all()
    assert fit.task_widths.std[0] < 1e-6
    assert fit.task_widths.low[0] == 0.0
    assert not fit.noise_width.at_bound.any()
    np.testing.assert_allclose(fit.prior.noise_std**2, y.var(ddof=1), rtol=1e-5)
    weak = fit_prior(sums, structure=structure)
    assert not weak.at_bound
    assert not weak.task_widths.at_bound.any()
    assert weak.task_widths.maybe_zero.all()


def test_a_full_covariance_of_few_tasks_is_singular_without_weak_priors():
    rng = np.random.default_rng(21)
    sums = drawn_sums(rng, tasks=3, events=30, task_cov=np.eye(4), noise=0.3, hyper_cov=np.eye(4),
                  mean=np.zeros(4))  # fmt: skip
    bare, weak = (fit_prior(sums, structure="full", weak_priors=w) for w in (False, True))
    assert bare.at_bound
    assert not bare.task_widths.at_bound.any()  # each width is clear, some directions are not
    assert np.linalg.cond(bare.prior.task_cov) > 1e6
    assert np.linalg.cond(weak.prior.task_cov) < 1e4
    assert not weak.at_bound


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("case", ["one event", "one task", "constant", "zero", "wide"])
@pytest.mark.parametrize("populations", [1, 2])
def test_degenerate_logs_without_weak_priors_give_finite_priors(
    structure, armed, case, populations
):
    sums = _degenerate(case, armed)
    fit = fit_prior(sums, population=evenly(sums, populations), structure=structure,
                    weak_priors=False, intervals=False)  # fmt: skip
    stds = np.array([*fit.task_widths.std, *fit.hyper_widths.std, fit.prior.noise_std])
    assert np.isfinite(stds).all()
    assert (stds > 0).all()
    assert np.isfinite([fit.log_evidence, *fit.trace]).all()


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("case", ["none", "one event", "one task", "constant", "zero", "wide"])
@pytest.mark.parametrize("populations", [1, 2])
def test_degenerate_logs_give_finite_priors(structure, armed, case, populations):
    sums, d = _degenerate(case, armed), 5
    intervals = populations == 1 and structure in ("scalar", "diagonal", "common")  # the quick
    fit = fit_prior(sums, population=evenly(sums, populations), structure=structure,
                    intervals=intervals)  # fmt: skip
    stds = np.array([*fit.task_widths.std, *fit.hyper_widths.std, fit.prior.noise_std])
    assert np.isfinite(stds).all()
    assert (stds > 0).all()
    assert np.isfinite([fit.log_evidence, *fit.trace]).all()
    if intervals:
        for widths in (fit.task_widths, fit.noise_width):
            assert (widths.low >= 0).all()
            assert (widths.low <= widths.high).all()
        assert np.isfinite([fit.means.low, fit.means.high]).all() or case == "none"
    belief = Belief.from_sums(fit.prior, sums, populations)
    assert np.isfinite(belief.log_evidence()).all()
    if case == "none":
        unit = np.eye(d) + (structure == "common")
        np.testing.assert_allclose(full(fit.prior.task_cov), unit, atol=1e-2)
        np.testing.assert_allclose(fit.prior.noise_std, 1.0, rtol=0.05)


def test_correlated_arms_are_learned_and_independent_ones_are_not_made_so():
    rng = np.random.default_rng(30)
    spread, marginals = np.array([0.5, 1.0, 0.7, 0.8]), {}
    for correlation in (0.0, 0.9):
        cov = np.outer(spread, spread) * (correlation + (1 - correlation) * np.eye(4))
        sums = drawn_sums(rng, tasks=80, events=60, task_cov=cov, noise=0.5, hyper_cov=np.eye(4),
                          mean=np.zeros(4), armed=True)  # fmt: skip
        fits = {kind: fit_prior(sums, structure=kind) for kind in ("diagonal", "common", "full")}
        full_cov = fits["full"].prior.task_cov
        std = np.sqrt(np.diagonal(full_cov))
        learned = (full_cov / np.outer(std, std))[np.triu_indices(4, 1)]
        error = (1 - correlation**2) / np.sqrt(80) + 0.03
        np.testing.assert_allclose(learned, correlation, atol=3 * error)
        np.testing.assert_allclose(std, spread, rtol=0.3)
        marginals[correlation] = {kind: fit.log_marginal for kind, fit in fits.items()}
    assert max(marginals[0.0], key=marginals[0.0].get) == "diagonal"
    assert max(marginals[0.9], key=marginals[0.9].get) == "full"
    assert marginals[0.9]["common"] > marginals[0.9]["diagonal"] + 10


def test_a_part_in_common_is_learned():
    rng = np.random.default_rng(31)
    cov = np.diag([0.2, 0.3, 0.1, 0.25]) ** 2 + 1.0
    sums = drawn_sums(rng, tasks=150, events=60, task_cov=cov, noise=0.5, hyper_cov=np.eye(4),
                      mean=np.zeros(4), armed=True)  # fmt: skip
    fits = {kind: fit_prior(sums, structure=kind) for kind in ("diagonal", "common", "full")}
    own, common = parts_in_common(fits["common"].prior.task_cov)
    assert common == pytest.approx(1.0, rel=0.4)
    np.testing.assert_allclose(np.sqrt(own), [0.2, 0.3, 0.1, 0.25], rtol=0.35, atol=0.03)
    marginals = {kind: fit.log_marginal for kind, fit in fits.items()}
    assert max(marginals, key=marginals.get) == "common"
    assert fits["common"].structure == "common"


@pytest.mark.parametrize("structure", ["scalar", "diagonal", "common", "full"])
def test_noises_of_arms_are_learned(structure):
    truth = np.array([0.2, 0.6, 1.8])
    sums, squares = uneven_sums(np.random.default_rng(6), truth, tasks=60, events=60)
    fit = fit_prior(sums, squares=squares, structure=structure)
    assert fit.has_noise_by_arm
    assert fit.converged
    assert (np.diff(fit.trace) > -1e-9).all()
    noise = fit.noise_width
    np.testing.assert_allclose(noise.std, truth, rtol=0.06)
    assert ((noise.low < truth) & (truth < noise.high)).all()
    assert (noise.high / noise.low < 1.2).all()
    counts = sums.xx.sum(0)
    assert fit.prior.noise_std == pytest.approx(np.sqrt((counts @ noise.std**2) / counts.sum()))
    np.testing.assert_allclose(fit.task_widths.std, 0.4, rtol=0.4)
    assert fit.log_evidence > fit_prior(sums, structure=structure).log_evidence + 100


def test_one_arm_has_one_noise_either_way():
    sums, squares = uneven_sums(np.random.default_rng(7), [0.5], tasks=10, events=8)
    one, other = fit_prior(sums), fit_prior(sums, squares=squares)
    assert not other.has_noise_by_arm
    assert other.log_marginal == pytest.approx(one.log_marginal, abs=1e-6)
    np.testing.assert_allclose(other.noise_width.high, one.noise_width.high, rtol=1e-3)


def test_an_arm_that_nobody_played_has_a_noise_without_limits():
    sums, squares = uneven_sums(np.random.default_rng(8), [0.5, 1.0], tasks=20, events=30)
    places = [0, 2]
    more = np.zeros((20, 3))
    more[:, places] = squares
    fit, plain = (
        fit_prior(sums.with_arms_at(places, 3), squares=more),
        fit_prior(sums, squares=squares),
    )
    np.testing.assert_allclose(fit.noise_width.std[places], plain.noise_width.std, rtol=1e-3)
    assert fit.noise_width.std[1] == pytest.approx(
        np.sqrt(np.prod(plain.noise_width.std)), rel=0.02
    )
    assert (fit.noise_width.low[1], fit.noise_width.high[1]) == (0.0, np.inf)
    assert fit.log_marginal == pytest.approx(plain.log_marginal, abs=0.7)
