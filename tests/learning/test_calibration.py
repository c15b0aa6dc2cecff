"""Whether predictions of held-out rows hold."""

import numpy as np
import pytest
from scipy import stats
from support.learn_logs import drawn, sums_of

import hierbandits as hb
from hierbandits import Belief, GaussianHierarchy
from hierbandits.fitting import fit_prior
from hierbandits.learning.calibration import BINS, CONFIDENCES
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.sentence import Claim
from hierbandits.logs import Split


def _held_out(rows, split=0.25, seed=3):
    held = Split.held_out(split, seed).groups(np.arange(rows.task.size)) == 1
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
    calibration, (training, held) = report.calibration, _held_out(rows)
    sums, group = sums_of(rows, training), rows.population
    fit = fit_prior(sums, population=group, structure=report.structure.best)
    comparison = Comparison.of(sums, group)
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
        assert calibration.log_score[name] == pytest.approx(scores[name].mean(), rel=1e-8)
        rmse = np.sqrt(((y - predicted.mean) ** 2).mean())
        assert calibration.rmse[name] == pytest.approx(rmse, rel=1e-8)
    predicted, noise = predictions["hierarchical"]
    std = np.sqrt(predicted.std**2 + noise**2)
    pit = stats.norm.cdf(y, predicted.mean, std)
    counts, _ = np.histogram(pit, np.linspace(0, 1, BINS + 1))
    np.testing.assert_array_equal(calibration.histogram, counts)
    assert (calibration.rows, calibration.training_rows) == (held.sum(), training.sum())
    for i, confidence in enumerate(CONFIDENCES):
        inside = np.abs(pit - 0.5) <= confidence / 2
        _assert_clustered(
            calibration.coverage[i], calibration.coverage_error[i], inside, task, confidence
        )
    assert list(calibration.advantage) == ["pooled", "independent"]
    for name, (mean, error) in calibration.advantage.items():
        better = scores["hierarchical"] - scores[name]
        least = better.std() / np.sqrt(better.size)  # of independent rows
        assert error >= least * (1 - 1e-9)
        if error > least * (1 + 1e-9):
            _assert_clustered(mean, error, better, task)
    _assert_cells(calibration.cells, rows, held, hierarchy, noise)


def _assert_clustered(mean, error, values, task, stated=0.0):
    """At least the error of independent cases, if intervals of a stated confidence hold."""
    assert mean == pytest.approx(values.mean(), rel=1e-7)
    parts = [(values[task == s] - values.mean()).sum() for s in np.unique(task)]
    least = np.sqrt(stated * (1 - stated) / values.size)
    clustered = np.sqrt(np.square(parts).sum()) / values.size
    assert error == pytest.approx(max(clustered, least), rel=1e-7)


def _assert_cells(made, rows, held, belief, noise):
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
    assert made.count == len(z) > 0
    assert made.z_std == pytest.approx(np.sqrt((z**2).mean()))
    counts, _ = np.histogram(stats.norm.cdf(z), np.linspace(0, 1, BINS + 1))
    np.testing.assert_array_equal(made.histogram, counts)
    for i, confidence in enumerate(CONFIDENCES):
        inside = np.abs(stats.norm.cdf(z) - 0.5) <= confidence / 2
        _assert_clustered(made.coverage[i], made.coverage_error[i], inside, cell_task, confidence)


def _t(rng, size):
    return 0.5 * rng.standard_t(3, size)


def _uneven(rng, size):
    return rng.choice([0.1, 1.0], size) * rng.standard_normal(size)


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize(("noise", "right"), [(0.5, True), (_t, False), (_uneven, False)])
def test_calibration_is_right_where_the_model_is_and_only_there(armed, noise, right):
    rows = drawn(17, armed=armed, tasks=200, events=60, noise=noise)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, runs=0)
    calibration = report.calibration
    flat = stats.chisquare(calibration.histogram).pvalue
    if right:
        assert Claim.HOLD in report.claims
        assert flat > 1e-3
        assert np.abs(calibration.coverage - CONFIDENCES).max() < 0.02
        assert calibration.cells.z_std == pytest.approx(
            1.0, abs=5 / np.sqrt(2 * calibration.cells.count)
        )
    else:
        assert Claim.OFF in report.claims
        assert 0.5 in calibration.judged["held-out rewards"].wrong
        assert flat < 1e-6
        assert (
            calibration.coverage[0] > 0.52
        )  # heavy tails: the middle is narrower than a Gaussian's
    assert calibration.advantage["pooled"][0] > 5 * calibration.advantage["pooled"][1]


def test_a_constant_interval_of_few_rows_is_not_called_off():
    rows = drawn(18, armed=True, tasks=4, events=4)
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, runs=0, held_out=0.3)
    assert report.calibration.rows < 10
    assert report.calibration.cells is None
    assert Claim.HOLD_NOT_TOLD in report.claims
