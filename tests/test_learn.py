"""Learning from logs: every number of the report against a slow, independent computation."""

import numpy as np
import pytest
from hierbandits.learning.held_out import Split
from hierbandits.learning.learning_survey import SAMPLE, Survey
from hierbandits.learning.prior import fitted
from hierbandits.learning.width_family import Family
from scipy import stats
from scipy.special import gammaln, logsumexp
from support.learn_logs import drawn
from support.oracle import full, paper_linear

import hierbandits as hb
from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.environments import HierarchicalBandit, SampledActions
from hierbandits.keyed_random import Events, Stream
from hierbandits.learning.calibration import BINS, LEVELS
from hierbandits.learning.leave_one_out import without_each
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.outliers import Outliers, benjamini_hochberg
from hierbandits.learning.savings import POLICIES, Saving, newcomer
from hierbandits.learning.shrinkage import Shrinkage
from hierbandits.simulation.schedules import Federated
from hierbandits.simulation.study import Outcome, Study

FORMS = [(armed, populations) for armed in (True, False) for populations in (1, 3)]
CLOSE = {"rtol": 1e-8, "atol": 1e-10}


def _prior(rows, seed=5):
    """A hierarchy that is not the one the rows were drawn from, and nowhere the identity."""
    rng, d = np.random.default_rng(seed), rows.dim
    if rows.armed:
        return GaussianHierarchy.armed(
            d, hyper_mean=rng.normal(2, 1, d), hyper_std=rng.uniform(0.5, 2, d),
            task_std=rng.uniform(0.2, 0.8, d), noise_std=0.6,
        )  # fmt: skip
    a, b = rng.standard_normal((2, d, d))
    return GaussianHierarchy(
        hyper_mean=rng.normal(2, 1, d),
        hyper_cov=a @ a.T + 0.1 * np.eye(d),
        task_cov=0.1 * (b @ b.T) + 0.05 * np.eye(d),
        noise_std=0.6,
    )


def _posteriors(prior, sums, population):
    return TaskPosteriors.of(Belief.from_sums(prior, sums, population=population))


def _sums(rows, keep=slice(None)):
    sums = TaskSums.zeros(len(rows.theta), rows.dim, armed=rows.armed)
    sums.add(rows.task[keep], rows.features[keep], rows.rewards[keep])
    return sums


def _form(rows, cov):
    return np.diagonal(cov, axis1=-2, axis2=-1) if rows.armed else cov


def test_held_out_rows_depend_on_the_row_and_the_seed_alone():
    split = Split(0.3, 7)
    whole = split.held(0, 20_000)
    parts = np.concatenate([split.held(start, 1234) for start in range(0, 20_000, 1234)])
    np.testing.assert_array_equal(whole, parts[:20_000])
    assert abs(whole.mean() - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    assert abs((whole[1:] & whole[:-1]).mean() - 0.09) < 5 * np.sqrt(0.09 / 20_000)
    other = Split(0.3, 8).held(0, 20_000)
    assert abs((whole & other).mean() - 0.09) < 5 * np.sqrt(0.09 * 0.91 / 20_000)
    assert not Split(0.0, 7).held(0, 1000).any()


@pytest.mark.parametrize(("armed", "populations"), FORMS)
@pytest.mark.parametrize("batch_rows", [7, 10_000])
def test_one_pass_gives_the_sums_of_both_parts(armed, populations, batch_rows):
    rows = drawn(1, armed=armed, populations=populations, tasks=30)
    split = Split(0.25, 3)
    survey = Survey.of(rows.log(batch_rows=batch_rows), split)
    held = split.held(0, rows.task.size)
    for sums, keep in ((survey.training, ~held), (survey.held, held)):
        expected = _sums(rows, keep)
        for part in ("xx", "xy", "yy", "n"):
            np.testing.assert_allclose(getattr(sums, part), getattr(expected, part), **CLOSE)
    assert survey.tasks == tuple(rows.names)
    np.testing.assert_array_equal(survey.population, rows.population)
    assert survey.coordinates == tuple(f"{'a' if armed else 'x'}{j}" for j in range(3))
    assert len(survey.populations) == populations
    assert not survey.two_valued


def test_the_sample_of_features_is_uniform_and_does_not_depend_on_batches():
    rows = drawn(2, armed=False, tasks=60, events=50, d=2)
    size = rows.task.size
    assert size > 2 * SAMPLE
    rows.features[:, 0] = np.arange(size)  # each row tells its number
    few, many = (Survey.of(rows.log(batch_rows=b), Split(0.2, 0)).sample for b in (101, 10_000))
    np.testing.assert_array_equal(few, many)
    places = few[:, 0].astype(int)
    assert len(set(places)) == SAMPLE
    np.testing.assert_array_equal(few, rows.features[places])
    assert stats.kstest(places / size, "uniform").pvalue > 1e-3


@pytest.mark.parametrize(
    ("values", "two"), [([0.0, 1.0], True), ([0.0, 1.0, 2.0], False), ([-1.0, 7.0], True)]
)
def test_two_valued_rewards_are_noticed(values, two):
    rows = drawn(3, armed=True)
    rows.rewards = np.resize(values, rows.rewards.size)
    assert Survey.of(rows.log(batch_rows=5), Split(0.2, 0)).two_valued == two


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_posteriors_and_those_without_each_task_match_the_dense_joint(armed, populations):
    rows = drawn(4, armed=armed, populations=populations, events=6)
    prior, m = _prior(rows), len(rows.theta)
    found = _posteriors(prior, _sums(rows), rows.population)
    joint = rows.joint(prior)
    means, covs, (left_mean, left_cov) = (
        found.means,
        found.covs,
        without_each(prior, _sums(rows), found),
    )
    for p in range(populations):
        mean, cov = joint.of(m + p)
        np.testing.assert_allclose(found.hyper_mean[p], mean, **CLOSE)
        np.testing.assert_allclose(found.hyper_cov[p], _form(rows, cov), **CLOSE)
    for s in range(m):
        mean, cov = joint.of(s)
        np.testing.assert_allclose(means[s], mean, **CLOSE)
        np.testing.assert_allclose(covs[s], _form(rows, cov), **CLOSE)
        mean, cov = rows.joint(prior, rows.task != s).of(m + rows.population[s])
        np.testing.assert_allclose(left_mean[s], mean, **CLOSE)
        np.testing.assert_allclose(left_cov[s], _form(rows, cov), **CLOSE)


def test_an_arm_that_one_task_alone_has_played_is_unknown_without_it():
    sums = TaskSums.zeros(3, 2, armed=True)
    sums.add([0, 1, 2, 2], [0, 0, 0, 1], [0.1, 0.2, 0.3, 9.0])
    wide = GaussianHierarchy.armed(2, hyper_std=1e6, task_std=1e-6, noise_std=1.0)
    mean, cov = without_each(wide, sums, _posteriors(wide, sums, np.zeros(3, int)))
    assert (mean[2, 1], cov[2, 1]) == (0.0, 1e12)  # exactly the hyper-prior: nothing was rounded
    np.testing.assert_allclose(mean[2, 0], 0.15, rtol=1e-6)


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_the_fit_is_that_of_the_rows_whatever_the_order_of_tasks(armed, populations):
    rows = drawn(6, armed=armed, populations=populations, tasks=20)
    sums = _sums(rows)
    fit = fitted(sums, rows.population, "diagonal", 1, None)
    log = rows.joint(fit.prior).log_evidence
    np.testing.assert_allclose(fit.log_evidence, log, rtol=1e-7)
    turned = np.random.default_rng(0).permutation(len(rows.theta))
    other = TaskSums(sums.xx[turned], sums.xy[turned], sums.yy[turned], sums.n[turned])
    again = fitted(other, rows.population[turned], "diagonal", 1, None)
    np.testing.assert_allclose(again.task_widths.std, fit.task_widths.std, rtol=1e-3)


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_the_candidates_evidence_is_that_of_the_dense_joint(armed, populations):
    scale = np.array([1.0, 100.0, 0.1])
    rows = drawn(7, armed=armed, populations=populations, tasks=6, events=5, scale=scale)
    family = Family.of(_sums(rows), rows.population)
    size = np.ones(3) if armed else np.sqrt((rows.features**2).mean(0))
    np.testing.assert_allclose(family.unit, 1 / size)
    centre = rows.rewards.mean() if armed else 0.0
    np.testing.assert_allclose(family.centre, centre)
    for t, q in [(0.3, 2.0), (0.0, 0.7), (1.5, 0.0)]:
        found = family.at(t).evidence(np.array([q])).log()[0]
        # A width of zero is near enough at 1e-9, where a hierarchy must have some.
        covs = [np.diag((width / size) ** 2) for width in (q, t or 1e-9)]
        prior = GaussianHierarchy(
            hyper_mean=np.zeros(3), hyper_cov=covs[0], task_cov=covs[1], noise_std=1.0
        )
        np.testing.assert_allclose(found, rows.joint(prior, centre=centre).log_evidence, rtol=1e-8)


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
    found = Comparison.of(_sums(rows), rows.population, noise_std)
    size = np.ones(2) if armed else np.sqrt((rows.features**2).mean(0))
    log = _brute_evidence(rows, rows.rewards.mean() if armed else 0.0, size, noise_std)
    low, high = found.task_widths[0], found.task_widths[-1]
    assert (found.hyper_widths[0], found.hyper_widths[-1]) == (low, high) == (2**-7, 2**5)
    fine, coarse = (np.exp(np.linspace(np.log(low), np.log(high), n)) for n in (201, 51))
    expected = {
        "pooled": _average([log(0.0, q) for q in fine]),
        "hierarchical": _average([[log(t, q) for q in coarse] for t in coarse]),
        "independent": _average([log(t, 0.0) for t in fine]),
    }
    for name, value in expected.items():
        assert found.log_evidence[name] == pytest.approx(value, abs=0.01)
    assert found.best == max(expected, key=expected.get)
    total = logsumexp(list(expected.values()))
    for name, share in found.probability.items():
        assert share == pytest.approx(np.exp(expected[name] - total), abs=0.005)
    gap = expected["hierarchical"] - expected["pooled"]
    assert found.log_odds("hierarchical", "pooled") == pytest.approx(gap, abs=0.02)
    weights = np.exp([log(t, 0.0) for t in fine] - logsumexp([log(t, 0.0) for t in fine]))
    typical = np.exp(weights @ np.log(fine))
    assert found.typical["independent"] == (pytest.approx(typical, rel=0.01), 0.0)
    if noise_std is None:
        t, q = found.typical["hierarchical"]
        x, y = rows.vectors / size, rows.rewards - found.centre
        group, gram = rows.population[rows.task], x @ x.T
        cov = np.eye(y.size) + t**2 * gram * (rows.task[:, None] == rows.task)
        cov += q**2 * gram * (group[:, None] == group)
        noise = np.sqrt(y @ np.linalg.solve(cov, y) / y.size)
        assert found.noise["hierarchical"] == pytest.approx(noise, rel=1e-8)
    else:
        assert set(found.noise.values()) == {noise_std}


def test_sharp_widths_are_resolved_and_wide_ones_are_reached():
    """Where a grid of powers of two would miss the peak, or end before it."""
    rows = drawn(9, armed=True, tasks=4000, events=40, task_std=0.35, hyper_std=500.0, d=2)
    found = Comparison.of(_sums(rows), rows.population)
    assert found.hyper_widths[-1] > 32
    assert not any("high" in edge for edge in found.edges)
    t, q = found.typical["hierarchical"]
    assert t * found.noise["hierarchical"] == pytest.approx(0.35, rel=0.03)
    assert q * found.noise["hierarchical"] > 30
    assert found.noise["hierarchical"] == pytest.approx(0.5, rel=0.01)
    family = Family.of(_sums(rows), rows.population)
    # Only the peak counts, so that a fine grid around it has all of the integral.
    peak = np.log(found.typical["independent"][0])
    fine = np.linspace(peak - 0.1, peak + 0.1, 201)
    logs = [family.at(float(w)).evidence(np.zeros(1)).log_any_scale()[0] for w in np.exp(fine)]
    span = np.log(found.task_widths[-1] / found.task_widths[0])
    integral = logsumexp(logs) + np.log((fine[1] - fine[0]) / span)
    assert found.log_evidence["independent"] == pytest.approx(integral, abs=0.02)


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
    opening = {
        "pooled": "Tasks look equal: one pooled model fits them best.",
        "hierarchical": "Tasks are alike but not equal: a hierarchy fits them best.",
        "independent": "Tasks have little in common: independent tasks fit best.",
    }
    assert report.verdict[0].startswith(opening[best])
    odds = {name: report.comparison.log_odds(best, name) for name in opening}
    if best == "hierarchical":
        assert min(odds["pooled"], odds["independent"]) > np.log(150)
        assert report.verdict[0].count("very strongly") == 2
    else:
        far = {"pooled": "independent", "independent": "pooled"}[best]
        assert odds[far] > np.log(150)
        assert 0 < odds["hierarchical"] < np.log(20)  # which can be as near to it as it likes
    assert report.calibration is None
    assert report.savings is None


def _paper_hyper(rows, prior):
    """Each population's mu, by the paper's equation: the hyper-prior is too wide to subtract from.

    The dense joint would lose half of its digits to a width of a hundred rewards.
    """
    dense = GaussianHierarchy.deep(
        hyper_mean=prior.hyper_mean, covs=[full(cov) for cov in prior.covs],
        noise_std=prior.noise_std,
    )  # fmt: skip
    found = []
    for p in range(int(rows.population.max()) + 1):
        mine = [rows.task == s for s in np.flatnonzero(rows.population == p)]
        xs, ys = [rows.vectors[at] for at in mine], [rows.rewards[at] for at in mine]
        found.append(paper_linear(dense, xs, ys)[:2])
    return found


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_similarity_and_shrinkage_are_read_off_the_posterior(armed, populations):
    scale = np.array([1.0, 20.0, 0.3])
    rows = drawn(11, armed=armed, populations=populations, tasks=15, events=8, scale=scale)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    fit = fitted(_sums(rows), rows.population, "diagonal", 1, None)
    m, d = len(rows.theta), 3
    found, leaning = report.similarity, report.shrinkage
    hyper = _paper_hyper(rows, fit.prior)
    for p, (mean, cov) in enumerate(hyper):
        np.testing.assert_allclose(found.mean[p], mean, **CLOSE)
        np.testing.assert_allclose(found.mean_std[p], np.sqrt(np.diagonal(cov)), **CLOSE)
    cov = np.diag(fit.prior.task_cov) if armed else fit.prior.task_cov
    np.testing.assert_allclose(found.task_std, np.sqrt(np.diagonal(cov)), rtol=1e-12)
    noise = fit.prior.noise_std**2
    square = np.ones(d) if armed else (rows.features**2).mean(0)
    between = np.diagonal(cov) * square
    np.testing.assert_allclose(found.share, between / (between + noise))
    np.testing.assert_allclose(found.rewards_to_equal, noise / between)
    spread = np.einsum("ei,ij,ej->e", rows.vectors, cov, rows.vectors).mean()
    assert found.overall_share == pytest.approx(spread / (spread + noise))
    np.testing.assert_allclose(found.task_low, fit.task_widths.low, rtol=1e-9)
    np.testing.assert_allclose(found.task_high, fit.task_widths.high, rtol=1e-9)
    np.testing.assert_array_equal(found.maybe_zero, fit.task_widths.maybe_zero)
    assert (found.hyper_std is None) == (populations == 1)
    assert found.noise_low < found.noise_std < found.noise_high
    assert found.converged
    log_evidence = rows.joint(fit.prior).log_evidence
    assert found.log_evidence == pytest.approx(log_evidence, rel=1e-7)
    for s in range(m):
        x, y = rows.vectors[rows.task == s], rows.rewards[rows.task == s]
        gain = np.linalg.inv(np.linalg.inv(cov) + x.T @ x / noise) @ np.linalg.inv(cov)
        assert leaning.weight[s] == pytest.approx(np.trace(gain) / d)
        assert leaning.rows[s] == len(x)
        mu, sigma = hyper[rows.population[s]]
        mean = gain @ (mu + cov @ x.T @ y / noise)
        spread = gain @ cov + gain @ sigma @ gain.T
        np.testing.assert_allclose(leaning.mean[s], mean, **CLOSE)
        np.testing.assert_allclose(leaning.std[s], np.sqrt(np.diagonal(spread)), **CLOSE)
    points = np.quantile(leaning.weight, [0, 0.5, 1])
    found = leaning.quantiles()
    np.testing.assert_allclose([found["least"], found["median"], found["most"]], points)


def test_a_task_without_rewards_leans_on_others_alone():
    rows = drawn(12, armed=False)
    sums = _sums(rows)
    for part in (sums.xx, sums.xy, sums.yy, sums.n):
        part[4] = 0
    found = Shrinkage.of(_posteriors(_prior(rows), sums, rows.population), sums.n, (), ())
    assert found.weight[4] == pytest.approx(1.0, abs=1e-12)
    assert (np.delete(found.weight, 4) < 0.999).all()


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_surprise_is_that_of_leaving_each_task_out(armed, populations):
    rows = drawn(13, armed=armed, populations=populations, tasks=14, events=4)
    prior, m = _prior(rows), len(rows.theta)
    posterior = _posteriors(prior, _sums(rows), rows.population)
    names = tuple(rows.names), ("a", "b", "c")
    found = Outliers.of(prior, _sums(rows), posterior, *names)
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
        assert found.surprise[s] == pytest.approx(surprise, rel=1e-6)
        assert found.freedom[s] == freedom
        assert found.p_value[s] == pytest.approx(stats.chi2.sf(surprise, freedom), rel=1e-6)
        size = np.diagonal(var)
        z = np.where(size > 0, residual / np.sqrt(np.where(size > 0, size, 1)), 0)
        assert found.odd[s] == np.abs(z).argmax()
        assert found.odd_z[s] == pytest.approx(z[found.odd[s]])
    assert len(ranks) > 1  # some tasks have fewer rows than features
    adjusted = stats.false_discovery_control(found.p_value)
    np.testing.assert_allclose(found.adjusted, adjusted)
    np.testing.assert_array_equal(found.flagged, adjusted <= 0.05)


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
    posteriors = _posteriors(truth, _sums(rows), rows.population)
    names = tuple(rows.names), ("a", "b", "c")
    found = Outliers.of(truth, _sums(rows), posteriors, *names)
    assert stats.kstest(found.p_value, "uniform").pvalue > 1e-3
    assert (found.p_value <= 0.05).sum() > 40  # by chance, of 1,500 tasks that all fit
    assert found.flagged.sum() <= 1
    odd = rows.task == 77
    rows.rewards[odd] += 3.0 * (rows.vectors[odd][:, 1])
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    outliers = report.outliers
    assert outliers.names[0] == "t77"
    assert outliers.coordinates[outliers.odd[77]] == ("a1" if armed else "x1")
    assert outliers.odd_z[77] > 3
    assert "t77" in report.verdict[2]


def _held_out(rows, split=0.25, seed=3):
    held = Split(split, seed).held(0, rows.task.size)
    return ~held, held


def _pooled(comparison, rows, training):
    """One parameter for all tasks, by way of a belief of one level."""
    _, q = comparison.typical["pooled"]
    noise = comparison.noise["pooled"]
    var, mean = (q * noise * comparison.unit) ** 2, np.full(rows.dim, comparison.centre)
    prior = GaussianHierarchy.deep(hyper_mean=mean, covs=[np.diag(var)], noise_std=noise)
    belief = Belief(prior)
    x = rows.vectors[training]
    belief.observe(np.zeros(len(x), int), x, rows.rewards[training])
    return belief, noise


def _independent(comparison, rows, training):
    t, _ = comparison.typical["independent"]
    noise = comparison.noise["independent"]
    cov, mean = np.diag((t * noise * comparison.unit) ** 2), np.full(rows.dim, comparison.centre)
    prior = GaussianHierarchy(hyper_mean=mean, hyper_cov=0 * cov, task_cov=cov, noise_std=noise)
    belief = Belief(prior, len(rows.theta))
    belief.observe(rows.task[training], rows.vectors[training], rows.rewards[training])
    return belief, noise


@pytest.mark.parametrize("armed", [True, False])
def test_calibration_counts_are_those_of_the_rows(armed):
    rows = drawn(15, armed=armed, tasks=25, events=120)
    frame, settings = rows.frame(), {"held_out": 0.25, "seed": 3, "runs": 0}
    _, report = hb.learn_prior(frame, **rows.arguments, **settings)
    found, (training, held) = report.calibration, _held_out(rows)
    sums, group = _sums(rows, training), rows.population
    fit, comparison = fitted(sums, group, "diagonal", 1, None), Comparison.of(sums, group)
    hierarchy = Belief.from_sums(fit.prior, sums)
    features = rows.features[held]
    task, x, y = rows.task[held], rows.vectors[held], rows.rewards[held]
    pooled, pooled_noise = _pooled(comparison, rows, training)
    alone, alone_noise = _independent(comparison, rows, training)
    predictions = {
        "hierarchical": (hierarchy.predict(task, features), fit.prior.noise_std),
        "pooled": (pooled.predict(0 * task, x), pooled_noise),
        "independent": (alone.predict(task, x), alone_noise),
    }
    scores = {}
    for name, (predicted, noise) in predictions.items():
        std = np.sqrt(predicted.std**2 + noise**2)
        scores[name] = stats.norm.logpdf(y, predicted.mean, std)
        assert found.log_score[name] == pytest.approx(scores[name].mean(), rel=1e-8)
        rmse = np.sqrt(((y - predicted.mean) ** 2).mean())
        assert found.rmse[name] == pytest.approx(rmse, rel=1e-8)
    predicted, noise = predictions["hierarchical"]
    std = np.sqrt(predicted.std**2 + noise**2)
    pit = stats.norm.cdf(y, predicted.mean, std)
    counts, _ = np.histogram(pit, np.linspace(0, 1, BINS + 1))
    np.testing.assert_array_equal(found.histogram, counts)
    assert (found.rows, found.training_rows) == (held.sum(), training.sum())
    for i, level in enumerate(LEVELS):
        inside = np.abs(pit - 0.5) <= level / 2
        _assert_clustered(found.coverage[i], found.coverage_error[i], inside, task)
    assert list(found.gain) == ["pooled", "independent"]
    for name, (gain, error) in found.gain.items():
        _assert_clustered(gain, error, scores["hierarchical"] - scores[name], task)
    _assert_cells(found.cells, rows, held, hierarchy, noise)


def _assert_clustered(mean, error, values, task):
    assert mean == pytest.approx(values.mean(), rel=1e-7)
    parts = [(values[task == s] - values.mean()).sum() for s in np.unique(task)]
    assert error == pytest.approx(np.sqrt(np.square(parts).sum()) / values.size, rel=1e-7)


def _assert_cells(found, rows, held, belief, noise):
    """z-scores of the means of ten held-out rewards and more."""
    z, cell_task = [], []
    cells = range(rows.dim) if rows.armed else [None]
    for s in range(len(rows.theta)):
        posterior = belief.task(s)
        for arm in cells:
            chosen = held & (rows.task == s)
            if arm is not None:
                chosen &= rows.features == arm
            if chosen.sum() >= 10:
                x = rows.vectors[chosen].mean(0)
                var = x @ posterior.cov @ x + noise**2 / chosen.sum()
                z.append((rows.rewards[chosen].mean() - x @ posterior.mean) / np.sqrt(var))
                cell_task.append(s)
    z, cell_task = np.array(z), np.array(cell_task)
    assert found.count == len(z) > 0
    assert found.z_std == pytest.approx(np.sqrt((z**2).mean()))
    counts, _ = np.histogram(stats.norm.cdf(z), np.linspace(0, 1, BINS + 1))
    np.testing.assert_array_equal(found.histogram, counts)
    for i, level in enumerate(LEVELS):
        inside = np.abs(stats.norm.cdf(z) - 0.5) <= level / 2
        _assert_clustered(found.coverage[i], found.coverage_error[i], inside, cell_task)


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_predictions_of_several_populations_match_the_dense_joint(armed, populations):
    rows = drawn(16, armed=armed, populations=populations, tasks=10, events=12)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, held_out=0.25, seed=3, runs=0, noise_std=0.5
    )
    training, held = _held_out(rows)
    fit = fitted(_sums(rows, training), rows.population, "diagonal", 1, 0.5)
    joint, score, square = rows.joint(fit.prior, training), 0.0, 0.0
    for s, x, y in zip(rows.task[held], rows.vectors[held], rows.rewards[held], strict=True):
        mean, cov = joint.of(s)
        score += stats.norm.logpdf(y, x @ mean, np.sqrt(x @ cov @ x + 0.25))
        square += (y - x @ mean) ** 2
    found = report.calibration
    assert found.log_score["hierarchical"] == pytest.approx(score / held.sum(), rel=1e-7)
    assert found.rmse["hierarchical"] == pytest.approx(np.sqrt(square / held.sum()), rel=1e-7)
    assert report.similarity.noise_low is None


def _t(rng, size):
    return 0.5 * rng.standard_t(3, size)


def _uneven(rng, size):
    return rng.choice([0.1, 1.0], size) * rng.standard_normal(size)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize(("noise", "right"), [(0.5, True), (_t, False), (_uneven, False)])
def test_calibration_is_right_where_the_model_is_and_only_there(armed, noise, right):
    rows = drawn(17, armed=armed, tasks=200, events=60, noise=noise)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, runs=0)
    found = report.calibration
    flat = stats.chisquare(found.histogram).pvalue
    if right:
        assert found.off == []
        assert flat > 1e-3
        assert np.abs(found.coverage - LEVELS).max() < 0.02
        assert found.cells.z_std == pytest.approx(1.0, abs=5 / np.sqrt(2 * found.cells.count))
        assert "Predictions hold: intervals cover held-out rewards" in report.verdict[3]
    else:
        assert 0.5 in found.off
        assert flat < 1e-6
        assert found.coverage[0] > 0.52  # heavy tails: the middle is narrower than a Gaussian's
        assert "Predictions are off: of held-out rewards, the 50 % intervals" in report.verdict[3]
    assert found.gain["pooled"][0] > 5 * found.gain["pooled"][1]


def test_a_constant_interval_of_few_rows_is_not_called_off():
    rows = drawn(18, armed=True, tasks=4, events=4)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, runs=0, held_out=0.3)
    assert report.calibration.rows < 10
    assert report.calibration.cells is None
    assert report.calibration.off == []


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_savings_are_those_of_a_direct_simulation(armed, populations):
    rows = drawn(19, armed=armed, populations=populations, tasks=14, events=12)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, held_out=0, runs=12, seed=4, progress=False
    )
    fit = fitted(_sums(rows), rows.population, "diagonal", 1, None)
    comparison = Comparison.of(_sums(rows), rows.population)
    found, worlds = report.savings, report.savings.hierarchy
    (t, q), noise = comparison.typical["hierarchical"], fit.prior.noise_std
    size = np.ones(3) if armed else np.sqrt((rows.features**2).mean(0))
    mean, hyper_cov = fit.prior.hyper_mean, full(fit.prior.hyper_cov)
    if populations == 1:
        mean = np.full(3, rows.rewards.mean() if armed else 0.0)
        hyper_cov = np.diag((q * noise / size) ** 2)
    std = fit.task_widths.std
    std = np.where(fit.task_widths.maybe_zero, np.minimum(std, t * noise / size), std)
    np.testing.assert_allclose(worlds.hyper_mean, mean, rtol=1e-9)
    np.testing.assert_allclose(full(worlds.hyper_cov), hyper_cov, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(full(worlds.task_cov), np.diag(std**2), rtol=1e-9, atol=1e-12)
    assert worlds.noise_std == pytest.approx(noise)
    num_tasks = int(np.median(np.bincount(rows.population)))
    num_rounds = int(np.median(np.bincount(rows.task)))
    assert (found.num_tasks, found.num_rounds, found.runs) == (num_tasks, num_rounds, 12)
    sample = Survey.of(rows.log(), Split(0, 4)).sample
    actions = None if armed else SampledActions(sample, 10)
    world = HierarchicalBandit(hierarchy=worlds, num_tasks=num_tasks, actions=actions)
    study = hb.simulate(world, POLICIES, Federated(), 12, 4, num_interactions=num_rounds)
    ours = study.outcomes["HierTS"].total
    for name in POLICIES:
        assert found.regret(name) == study.mean(name)
    for saving in found.savings:
        theirs = study.outcomes[saving.over].total
        gap = theirs - ours
        assert saving.difference == pytest.approx(gap.mean())
        assert saving.difference_error == pytest.approx(gap.std(ddof=1) / np.sqrt(12))
        assert saving.percent == pytest.approx(100 * gap.mean() / theirs.mean())


def test_the_error_of_the_percentage_is_that_of_the_jackknife():
    rng = np.random.default_rng(0)
    theirs = rng.gamma(4.0, 1.0, 400)
    ours = 0.3 * theirs + rng.gamma(2.0, 0.2, 400)
    none = np.zeros(400)
    outcomes = {
        name: Outcome(total[:, None], total[:, None], none, none, none[:, None, None], 0.0)
        for name, total in (("HierTS", ours), ("TS", theirs))
    }
    saving = Saving.of(Study(np.array([1]), outcomes), "TS")
    left = [np.delete(ours, i).mean() / np.delete(theirs, i).mean() for i in range(400)]
    assert saving.percent == pytest.approx(100 * (1 - ours.mean() / theirs.mean()))
    assert saving.percent_error == pytest.approx(100 * np.sqrt(399 * np.var(left)), rel=0.02)


def test_pooling_is_said_to_win_where_it_does():
    rows = drawn(20, armed=True, tasks=100, events=100, d=5, task_std=0.1, hyper_std=0.3, noise=1.5)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=200)
    pooled = next(s for s in report.savings.savings if s.over == "PooledTS")
    assert pooled.difference < -2 * pooled.difference_error
    assert "more regret than PooledTS. Pooling wins there" in report.verdict[-1]
    assert "less regret than TS" in report.verdict[-1]
    assert report.similarity.maybe_zero.any()
    assert "the log does not tell them from zero" in report.verdict[-1]


@pytest.mark.parametrize("armed", [True, False])
def test_worlds_of_equal_tasks_are_not_as_wide_as_the_fit_has_to_guess(armed):
    rows = drawn(21, armed=armed, tasks=60, events=30, d=4, task_std=0.0, mean=1.0)
    fit = fitted(_sums(rows), rows.population, "diagonal", 1, None)
    comparison = Comparison.of(_sums(rows), rows.population)
    assert fit.task_widths.maybe_zero.any()
    narrow = np.sqrt(np.diagonal(full(newcomer(fit, comparison, False).task_cov)))
    size = np.ones(4) if armed else np.sqrt((rows.features**2).mean(0))
    typical = comparison.typical["hierarchical"][0] * fit.prior.noise_std / size
    at = fit.task_widths.maybe_zero
    np.testing.assert_allclose(narrow[at], np.minimum(typical, fit.task_widths.std)[at], 1e-9)
    np.testing.assert_allclose(narrow[~at], fit.task_widths.std[~at], rtol=1e-9)
    assert (narrow[at] < 0.8 * fit.task_widths.std[at]).any()


@pytest.mark.parametrize("per", ["run", "task", "round"])
def test_sampled_actions_are_rows_of_their_table(per):
    table = np.random.default_rng(0).standard_normal((20, 3))
    actions = SampledActions(table, num_arms=4, per=per)
    if per == "round":
        events = Events(np.array([0, 0, 5]), np.array([0, 1, 0]), np.array([2, 2, 2]))
        arms = actions.fresh(Stream(1, "actions"), events, 3)
        last = Events(*(part[2:] for part in (events.run, events.task, events.interaction)))
        again = actions.fresh(Stream(1, "actions"), last, 3)
        np.testing.assert_array_equal(again.rows_of(0), arms.rows_of(2))  # whoever else asks
        sets = np.array([table[arms.rows_of(e)] for e in range(3)])
        assert not np.array_equal(sets[0], sets[1])
    else:
        sets = actions.drawn(np.random.default_rng(1), 50, 6, 3)
        assert sets.shape == ((50 if per == "run" else 300), 4, 3)
    known = {row.tobytes() for row in table}
    assert {row.tobytes() for row in sets.reshape(-1, 3)} <= known
    assert actions.max_norm(3) == pytest.approx(np.linalg.norm(table, axis=1).max())
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(3), hyper_cov=np.eye(3), task_cov=np.eye(3), noise_std=1.0
    )
    world = HierarchicalBandit(hierarchy=prior, num_tasks=6, actions=actions)
    study = hb.simulate(world, ["OracleTS", "TS"], Federated(), 20, num_interactions=10)
    assert study.mean("TS")[0] > study.mean("OracleTS")[0] > 0


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        ([1.0], {}, "table must have shape"),
        (np.empty((0, 2)), {}, "table must have at least one row"),
        ([[1.0]], {"per": "day"}, "per must be one of run, task, round, got 'day'"),
        ([[1.0]], {"num_arms": 0}, "num_arms must be a whole number of at least 1"),
    ],
)
def test_bad_sampled_actions_are_refused(table, more, message):
    with pytest.raises(ValueError, match=message):
        SampledActions(table, **more)
