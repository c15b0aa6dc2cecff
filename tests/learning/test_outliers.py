"""Tasks that the others do not explain."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.learn_logs import FORMS, drawn, other_prior, posteriors, sums_of

import hierbandits as hb
from hierbandits import GaussianHierarchy
from hierbandits.fitting import fit_prior
from hierbandits.learning.log_checks import LogChecks
from hierbandits.learning.noise_shape import NoiseShape
from hierbandits.learning.outliers import Outliers, benjamini_hochberg
from hierbandits.logs import Survey


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_surprise_is_that_of_leaving_each_task_out(armed, populations):
    rows = drawn(13, armed=armed, populations=populations, tasks=14, events=4)
    prior, m = other_prior(rows), len(rows.theta)
    known = posteriors(prior, sums_of(rows), rows.population)
    names = tuple(rows.names), ("a", "b", "c")
    outliers = Outliers.of(prior, sums_of(rows), known, *names)
    noise, ranks = prior.noise_std**2, set()
    for s in range(m):
        mean, cov = rows.joint(prior, rows.task != s).of(s)  # theta_s given all other tasks
        x, y = rows.vectors[rows.task == s], rows.rewards[rows.task == s]
        G = x.T @ x / noise
        residual = x.T @ (y - x @ mean) / noise
        var = G + G @ cov @ G
        surprise = residual @ np.linalg.pinv(var, rcond=1e-10, hermitian=True) @ residual
        freedom = np.linalg.matrix_rank(x)
        ranks.add(int(freedom))
        assert outliers.surprise[s] == pytest.approx(surprise, rel=1e-6)
        assert outliers.freedom[s] == freedom
        assert outliers.p_value[s] == pytest.approx(stats.chi2.sf(surprise, freedom), rel=1e-6)
        size = np.diagonal(var)
        z = np.where(size > 0, residual / np.sqrt(np.where(size > 0, size, 1)), 0)
        assert outliers.odd[s] == np.abs(z).argmax()
        assert outliers.odd_z[s] == pytest.approx(z[outliers.odd[s]])
    assert len(ranks) > 1  # some tasks have fewer rows than features
    adjusted = stats.false_discovery_control(outliers.p_value)
    np.testing.assert_allclose(outliers.adjusted, adjusted)
    np.testing.assert_array_equal(outliers.flagged, adjusted <= 0.05)


def test_adjusted_p_values_of_ties_and_extremes():
    p = np.array([0.0, 1.0, 0.03, 0.03, 0.5, 1e-300])
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p))


@pytest.mark.parametrize("armed", [True, False])
def test_p_values_are_uniform_where_the_model_is_right_and_an_odd_task_is_named(armed):
    rows = drawn(14, armed=armed, tasks=1500, events=8, mean=0.0)
    kind = {"hyper_mean": np.zeros(3), "noise_std": 0.5}
    truth = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    if not armed:
        truth = GaussianHierarchy(hyper_cov=np.eye(3), task_cov=0.16 * np.eye(3), **kind)
    known = posteriors(truth, sums_of(rows), rows.population)
    names = tuple(rows.names), ("a", "b", "c")
    outliers = Outliers.of(truth, sums_of(rows), known, *names)
    assert stats.kstest(outliers.p_value, "uniform").pvalue > 1e-3
    assert (outliers.p_value <= 0.05).sum() > 40  # by chance, of 1,500 tasks that all fit
    assert outliers.flagged.sum() <= 1
    odd = rows.task == 77
    rows.rewards[odd] += 3.0 * (rows.vectors[odd][:, 1])
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    outliers = report.outliers
    assert outliers.flagged_tasks[0] == "t77"
    assert outliers.coordinates[outliers.odd[77]] == ("a1" if armed else "x1")
    assert outliers.odd_z[77] > 3
    assert "t77" in report.verdict[2]


def test_outliers_are_shown_in_a_line():
    rows = drawn(13, armed=True, populations=1, tasks=14, events=40)
    rows.rewards[rows.task == 5] += 30
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    odd = report.outliers
    name = odd.tasks[5]
    assert odd.flagged_tasks == [name]
    assert repr(odd) == f"<Outliers: 1 of 14 tasks stand out: {name}>"
    assert odd._repr_html_().index(str(name)) < odd._repr_html_().index(str(odd.tasks[0]))
    none = replace(odd, flagged=np.zeros(14, bool))
    assert repr(none) == "<Outliers: 0 of 14 tasks stand out>"
    every = replace(odd, flagged=np.ones(14, bool))
    assert repr(every).endswith(" and 11 more>")


def test_rare_events_seldom_make_equal_tasks_stand_out():
    """Clicks at 0.5, 2 and 20 %; 50 equal tasks of about 33 rows of each arm."""
    flagged = as_gaussian = 0
    asked = {"task": "task", "arm": "arm", "reward": "reward", "held_out": 0, "runs": 0}
    for seed in range(10):
        rng = np.random.default_rng([seed, 7])
        task, arm = np.repeat(np.arange(50), 100), rng.integers(0, 3, 5000)
        reward = (rng.random(5000) < np.array([0.005, 0.02, 0.2])[arm]).astype(float)
        outliers = hb.learn_prior({"task": task, "arm": arm, "reward": reward}, **asked)[1].outliers
        flagged += bool(outliers.flagged.any())
        plain = benjamini_hochberg(stats.chi2.sf(outliers.surprise, outliers.freedom))
        as_gaussian += bool((plain <= 0.05).any())
    assert 2 * flagged < as_gaussian
    odd = {"task": task, "arm": arm, "reward": reward + 2.0 * (task == 11)}
    assert 11 in hb.learn_prior(odd, **asked)[1].outliers.flagged_tasks


def shaped(kind, skewness, excess):
    """Noise of this shape in the 14 tasks below."""
    one = np.ones((14, 3 if kind != "features" else 1))
    return NoiseShape(skewness * one, excess * one)


@pytest.mark.parametrize("kind", ["arms", "dense arms", "features"])
def test_tails_of_the_noise_make_p_values_larger_and_no_tails_leave_them(kind):
    rows = drawn(13, armed=kind != "features", tasks=14, events=12)
    rows.rewards[rows.task == 5] += 4.0 * rows.vectors[rows.task == 5][:, 1]
    prior, sums = other_prior(rows), sums_of(rows)
    if kind == "dense arms":
        prior = GaussianHierarchy.armed(
            3, hyper_mean=prior.hyper_mean, hyper_std=np.sqrt(prior.hyper_cov),
            task_cov=np.diag(prior.task_cov) + 0.02, noise_std=prior.noise_std,
        )  # fmt: skip
    known = posteriors(prior, sums, rows.population)
    names = tuple(rows.names), ("a", "b", "c")
    plain = Outliers.of(prior, sums, known, *names)
    none = Outliers.of(prior, sums, known, *names, shaped(kind, 0.0, 0.0))
    np.testing.assert_allclose(none.p_value, plain.p_value, rtol=1e-9)
    heavy = Outliers.of(prior, sums, known, *names, shaped(kind, 0.0, 4.0))
    far = plain.p_value < 0.1
    assert far.any()
    assert (heavy.p_value[far] > plain.p_value[far]).all()
    np.testing.assert_array_equal(heavy.surprise, plain.surprise)


@pytest.mark.parametrize("unit", [1e-50, 1e50])
def test_the_unit_of_rewards_does_not_matter(unit):
    rows = drawn(
        3, armed=True, tasks=40, events=12, noise=lambda rng, size: rng.exponential(size=size)
    )
    made = []
    for size in (1.0, unit):
        frame = rows.frame().with_columns(revenue=rows.rewards * size)
        survey = Survey.of(
            hb.Log.read(frame, hb.Columns(task="store", arm="promo", reward="revenue"))
        )
        sums = sums_of(replace(rows, rewards=rows.rewards * size))
        checks = LogChecks(survey, sums)
        for batch in survey.log.batches():
            checks.add(batch)
        made.append(checks.noise_shape())
    np.testing.assert_allclose(made[0].excess, made[1].excess, rtol=1e-6)
    np.testing.assert_allclose(made[0].skewness, made[1].skewness, rtol=1e-6)


@pytest.mark.parametrize("armed", [True, False])
def test_skewed_noise_seldom_makes_tasks_stand_out_that_do_not(armed):
    """Tasks of five rows of exponential noise: most such logs have a task that looks odd."""
    flagged = as_gaussian = 0
    for seed in range(8):
        rows = drawn(seed, armed=armed, tasks=300, events=5, task_std=0.5,
                     noise=lambda rng, size: rng.exponential(size=size) - 1)  # fmt: skip
        fit = fit_prior(sums_of(rows), structure="diagonal", intervals=False)
        known = posteriors(fit.prior, sums_of(rows), rows.population)
        survey = Survey.of(rows.log())
        checks = LogChecks(survey, sums_of(rows))
        for batch in survey.log.batches():
            checks.add(batch)
        asked = fit.prior, sums_of(rows), known, survey.tasks, survey.coordinates
        flagged += bool(Outliers.of(*asked, checks.noise_shape()).flagged.any())
        as_gaussian += bool(Outliers.of(*asked).flagged.any())
    assert flagged <= 1
    assert as_gaussian >= 6
