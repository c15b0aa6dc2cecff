"""What each model predicts of single rewards."""

import numpy as np
import pytest
from scipy import stats
from support.learn_logs import FORMS, drawn, other_prior, sums_of

import hierbandits as hb
from hierbandits import Belief
from hierbandits.fitting import fit_prior
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.predictor import Predictor, typical_prior
from hierbandits.logs import Split


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_predictions_of_several_populations_match_the_dense_joint(armed, populations):
    rows = drawn(16, armed=armed, populations=populations, tasks=10, events=12)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, held_out=0.25, seed=3, runs=0, noise_std=0.5
    )
    held = Split.held_out(0.25, 3).groups(np.arange(rows.task.size)) == 1
    training = ~held
    kind = report.structure.best
    fit = fit_prior(
        sums_of(rows, training), population=rows.population, structure=kind, noise_std=0.5
    )
    joint, score, square = rows.joint(fit.prior, training), 0.0, 0.0
    for s, x, y in zip(rows.task[held], rows.vectors[held], rows.rewards[held], strict=True):
        mean, cov = joint.of(s)
        score += stats.norm.logpdf(y, x @ mean, np.sqrt(x @ cov @ x + 0.25))
        square += (y - x @ mean) ** 2
    calibration = report.calibration
    assert calibration.log_score["hierarchical"] == pytest.approx(score / held.sum(), rel=1e-7)
    assert calibration.rmse["hierarchical"] == pytest.approx(np.sqrt(square / held.sum()), rel=1e-7)
    assert report.similarity.noise_low is None


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_each_model_predicts_as_its_belief_does(armed, populations):
    rows = drawn(16, armed=armed, populations=populations, tasks=10, events=12)
    sums, population, prior = sums_of(rows), rows.population, other_prior(rows)
    comparison = Comparison.of(sums, population, 0.5)
    predictors = Predictor.of_each_model(prior, sums, population, 0.5)
    assert list(predictors) == ["hierarchical", "pooled", "independent"]
    alone = typical_prior(comparison, "independent", armed)
    assert not alone.hyper_cov.any()
    pooled = typical_prior(comparison, "pooled", armed)
    pooled = pooled.with_levels(pooled.hyper_mean, [pooled.hyper_cov])
    for name, believed in (("hierarchical", prior), ("independent", alone), ("pooled", pooled)):
        belief = Belief.from_sums(believed, sums, population=population)
        nodes = population[rows.task] if name == "pooled" else rows.task
        expected = belief.predict(nodes, rows.features)
        mean, var = predictors[name].signal(rows.task, rows.features)
        np.testing.assert_allclose(mean, expected.mean, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(var, expected.std**2, rtol=1e-7, atol=1e-12)
        assert predictors[name].noise_var == pytest.approx(believed.noise_std**2)
