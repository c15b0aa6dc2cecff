"""Pooled, hierarchical or independent: evidence with widths integrated out."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from support.learn_logs import drawn, learned, sums_of

import hierbandits as hb
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.sentence import Claim
from hierbandits.learning.width_evidence import WidthEvidence


def _brute_evidence(rows, centre, size, noise_std):
    """The log evidence at (t, q) from the rewards' dense covariance, scale integrated out."""
    x, y = rows.vectors / size, rows.rewards - centre
    gram = x @ x.T
    same_task = rows.task[:, None] == rows.task
    group = rows.population[rows.task]
    tasks, groups = gram * same_task, gram * (group[:, None] == group)

    def log(t, q):
        cov = np.eye(y.size) + t**2 * tasks + q**2 * groups
        square = y @ np.linalg.solve(cov, y)
        log_det = np.linalg.slogdet(cov)[1]
        if noise_std is not None:
            square, log_det = square / noise_std**2, log_det + y.size * 2 * np.log(noise_std)
            return -0.5 * (y.size * np.log(2 * np.pi) + log_det + square)
        half = y.size / 2
        return gammaln(half) - half * np.log(np.pi * square) - log_det / 2

    return log


def _average(logs):
    """The log of the mean of exp(logs) by the trapezoid rule along every axis."""
    logs = np.asarray(logs)
    for size in logs.shape[::-1]:
        weights = np.full(size, 1.0)
        weights[[0, -1]] = 0.5
        logs = logsumexp(logs + np.log(weights / weights.sum()), axis=-1)
    return float(logs)


@pytest.mark.parametrize(("armed", "populations"), [(True, 1), (False, 2)])
@pytest.mark.parametrize("noise_std", [None, 0.45])
def test_the_models_evidence_is_the_integral_over_widths(armed, populations, noise_std):
    rows = drawn(8, armed=armed, populations=populations, tasks=8, events=6, d=2)
    comparison = Comparison.of(sums_of(rows), rows.population, noise_std)
    size = np.ones(2) if armed else np.sqrt((rows.features**2).mean(0))
    log = _brute_evidence(rows, rows.rewards.mean() if armed else 0.0, size, noise_std)
    low, high = comparison.task_widths[0], comparison.task_widths[-1]
    assert (comparison.hyper_widths[0], comparison.hyper_widths[-1]) == (low, high) == (2**-7, 2**5)
    fine, coarse = (np.exp(np.linspace(np.log(low), np.log(high), n)) for n in (201, 51))
    expected = {
        "pooled": _average([log(0.0, q) for q in fine]),
        "hierarchical": _average([[log(t, q) for q in coarse] for t in coarse]),
        "independent": _average([log(t, 0.0) for t in fine]),
    }
    for name, value in expected.items():
        assert comparison.log_evidence[name] == pytest.approx(value, abs=0.01)
    assert comparison.best == max(expected, key=expected.get)
    total = logsumexp(list(expected.values()))
    for name, share in comparison.probability.items():
        assert share == pytest.approx(np.exp(expected[name] - total), abs=0.005)
    gap = expected["hierarchical"] - expected["pooled"]
    assert comparison.log_odds("hierarchical", "pooled") == pytest.approx(gap, abs=0.02)
    weights = np.exp([log(t, 0.0) for t in fine] - logsumexp([log(t, 0.0) for t in fine]))
    typical = np.exp(weights @ np.log(fine))
    assert comparison.typical["independent"] == (pytest.approx(typical, rel=0.01), 0.0)
    if noise_std is None:
        t, q = comparison.typical["hierarchical"]
        x, y = rows.vectors / size, rows.rewards - comparison.centre
        group, gram = rows.population[rows.task], x @ x.T
        cov = np.eye(y.size) + t**2 * gram * (rows.task[:, None] == rows.task)
        cov += q**2 * gram * (group[:, None] == group)
        noise = np.sqrt(y @ np.linalg.solve(cov, y) / y.size)
        assert comparison.noise["hierarchical"] == pytest.approx(noise, rel=1e-8)
    else:
        assert set(comparison.noise.values()) == {noise_std}


def test_sharp_widths_are_resolved_and_wide_ones_are_reached():
    """Where a grid of powers of two would miss the peak, or end before it."""
    rows = drawn(9, armed=True, tasks=4000, events=40, task_std=0.35, hyper_std=500.0, d=2)
    comparison = Comparison.of(sums_of(rows), rows.population)
    assert comparison.hyper_widths[-1] > 32
    assert not any("high" in edge for edge in comparison.edges)
    t, q = comparison.typical["hierarchical"]
    assert t * comparison.noise["hierarchical"] == pytest.approx(0.35, rel=0.03)
    assert q * comparison.noise["hierarchical"] > 30
    assert comparison.noise["hierarchical"] == pytest.approx(0.5, rel=0.01)
    evidence = WidthEvidence.of(sums_of(rows), rows.population)
    # Only the peak counts, so that a fine grid around it has all of the integral.
    peak = np.log(comparison.typical["independent"][0])
    fine = np.linspace(peak - 0.1, peak + 0.1, 201)
    logs = [evidence.at(float(w)).evidence(np.zeros(1)).log_any_scale()[0] for w in np.exp(fine)]
    span = np.log(comparison.task_widths[-1] / comparison.task_widths[0])
    integral = logsumexp(logs) + np.log((fine[1] - fine[0]) / span)
    assert comparison.log_evidence["independent"] == pytest.approx(integral, abs=0.02)


@pytest.mark.parametrize(
    ("best", "hyper_std", "task_std"),
    [("pooled", 1.0, 0.0), ("hierarchical", 1.0, 0.4), ("independent", 0.0, 1.0)],
)
@pytest.mark.parametrize("armed", [True, False])
def test_clear_cases_are_told_apart(best, hyper_std, task_std, armed):
    mean = 2.0 if armed else 0.0
    rows = drawn(10, armed=armed, tasks=60, events=40, d=4, hyper_std=hyper_std,
                 task_std=task_std, mean=mean)  # fmt: skip
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    assert report.comparison.best == best
    claims = {
        "pooled": {Claim.EQUAL, Claim.ALIKE_OR_EQUAL},
        "hierarchical": {Claim.ALIKE},
        "independent": {Claim.STRANGERS, Claim.ALIKE_OR_STRANGERS},
    }
    assert report.paragraphs[0][0].claim in claims[best]
    odds = {name: report.comparison.log_odds(best, name) for name in claims}
    if best == "hierarchical":
        assert min(odds["pooled"], odds["independent"]) > np.log(150)
        assert report.paragraphs[0][0].log_odds > np.log(150)
    else:
        far = {"pooled": "independent", "independent": "pooled"}[best]
        assert odds[far] > np.log(150)
        assert 0 < odds["hierarchical"] < np.log(20)  # which can be as near to it as it likes
    assert report.calibration is None
    assert report.promises is None


def test_a_comparison_is_shown_in_a_line():
    _, _, report = learned(True)
    shown, best = repr(report.comparison), report.comparison.best
    assert shown.startswith(f"<Comparison: {best} fits best; probabilities: pooled ")
    assert len(shown) < 200
    html = report.comparison._repr_html_()
    for name in ("pooled", "hierarchical", "independent"):
        assert f"{name}</t" in html
