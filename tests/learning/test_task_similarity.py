"""How similar tasks are, and how much each leans on the others."""

import numpy as np
import pytest
from support.learn_logs import CLOSE, FORMS, drawn, learned, sums_of
from support.oracle import full, paper_linear

import hierbandits as hb
from hierbandits import GaussianHierarchy
from hierbandits.fitting import fit_prior
from hierbandits.reporting.rounding import in_percent


def _paper_hyper(rows, prior):
    """Each population's mu, by the paper's equation: the hyper-prior is too wide to subtract from.

    The dense joint would lose half of its digits to a width of a hundred rewards.
    """
    dense = GaussianHierarchy.deep(
        hyper_mean=prior.hyper_mean, covs=[full(cov) for cov in prior.covs],
        noise_std=prior.noise_std,
    )  # fmt: skip
    hypers = []
    for p in range(int(rows.population.max()) + 1):
        mine = [rows.task == s for s in np.flatnonzero(rows.population == p)]
        xs, ys = [rows.vectors[at] for at in mine], [rows.rewards[at] for at in mine]
        hypers.append(paper_linear(dense, xs, ys)[:2])
    return hypers


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_similarity_and_shrinkage_are_read_off_the_posterior(armed, populations):
    scale = np.array([1.0, 20.0, 0.3])
    rows = drawn(11, armed=armed, populations=populations, tasks=15, events=8, scale=scale)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    kind = report.structure.best
    fit = fit_prior(sums_of(rows), population=rows.population, structure=kind)
    m, d = len(rows.theta), 3
    similarity, leaning = report.similarity, report.shrinkage
    hyper = _paper_hyper(rows, fit.prior)
    for p, (mean, cov) in enumerate(hyper):
        np.testing.assert_allclose(similarity.mean[p], mean, **CLOSE)
        np.testing.assert_allclose(similarity.mean_std[p], np.sqrt(np.diagonal(cov)), **CLOSE)
    half = (similarity.mean_high - similarity.mean_low) / 2
    np.testing.assert_allclose(half, (fit.means.high - fit.means.low) / 2, rtol=1e-6)
    if populations > 1:  # Student's t, by the errors of the widths; for one also by differences
        assert (half > 1.9599 * similarity.mean_std).all()
    np.testing.assert_allclose(similarity.mean_low + half, similarity.mean, **CLOSE)
    cov = np.diag(fit.prior.task_cov) if armed else fit.prior.task_cov
    np.testing.assert_allclose(similarity.task_std, np.sqrt(np.diagonal(cov)), rtol=1e-12)
    noise = fit.prior.noise_std**2
    square = np.ones(d) if armed else (rows.features**2).mean(0)
    between = np.diagonal(cov) * square
    np.testing.assert_allclose(similarity.share, between / (between + noise))
    np.testing.assert_allclose(similarity.rewards_to_equal, noise / between)
    signal = np.einsum("ei,ij,ej->e", rows.vectors, cov, rows.vectors).mean()
    assert similarity.overall_share == pytest.approx(signal / (signal + noise))
    np.testing.assert_allclose(similarity.task_low, fit.task_widths.low, rtol=1e-9)
    np.testing.assert_allclose(similarity.task_high, fit.task_widths.high, rtol=1e-9)
    np.testing.assert_array_equal(similarity.maybe_zero, fit.task_widths.maybe_zero)
    assert (similarity.hyper_std is None) == (populations == 1)
    assert similarity.noise_low < similarity.noise_std < similarity.noise_high
    assert similarity.converged
    log_evidence = rows.joint(fit.prior).log_evidence
    assert similarity.log_evidence == pytest.approx(log_evidence, rel=1e-7)
    for s in range(m):
        x, y = rows.vectors[rows.task == s], rows.rewards[rows.task == s]
        gain = np.linalg.inv(np.linalg.inv(cov) + x.T @ x / noise) @ np.linalg.inv(cov)
        assert leaning.weight[s] == pytest.approx(np.trace(gain) / d)
        assert leaning.rows[s] == len(x)
        mu, sigma = hyper[rows.population[s]]
        mean = gain @ (mu + cov @ x.T @ y / noise)
        task_cov = gain @ cov + gain @ sigma @ gain.T
        np.testing.assert_allclose(leaning.mean[s], mean, **CLOSE)
        np.testing.assert_allclose(leaning.std[s], np.sqrt(np.diagonal(task_cov)), **CLOSE)
    points = np.quantile(leaning.weight, [0, 0.5, 1])
    quantiles = leaning.quantiles()
    np.testing.assert_allclose([quantiles["least"], quantiles["median"], quantiles["most"]], points)


def test_features_that_repeat_each_other_are_told_of():
    rows = drawn(37, armed=False, tasks=40, events=30)
    rows.features[:, 0] = 1.0
    centred = rows.features[:, 1].copy()
    for mean, told in ((0.0, False), (30.0, True)):
        rows.features[:, 1] = centred + mean
        _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
        size = np.sqrt((rows.features**2).mean(0))
        expected = np.linalg.cond(rows.features / size) ** 2
        assert report.similarity.condition == pytest.approx(expected, rel=1e-6)
        assert ("Features nearly repeat each other" in report.verdict[1]) == told
        assert report.to_dict()["similarity"]["condition"] == report.similarity.condition


def test_similarity_is_shown_in_a_line():
    _, _, report = learned(True)
    similarity = report.similarity
    shown = repr(similarity)
    assert shown.startswith(f"<Similarity over {len(similarity.coordinates)} arms: tasks differ by")
    assert (
        f"noise {similarity.noise_std:.3g}; {in_percent(similarity.overall_share)} of the" in shown
    )
    assert len(shown) < 200
    html = similarity._repr_html_()
    for name, width in zip(similarity.coordinates, similarity.task_std, strict=True):
        assert str(name) in html
        assert f"{width:.3g}" in html
