"""What trained beliefs say of rows that have contexts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.context_worlds import context_log
from support.logged import sums_by_group

from hierbandits import POLICIES
from hierbandits.evaluation.context_training import ContextTraining
from hierbandits.evaluation.pairs import Pairs
from hierbandits.evaluation.training import Training
from hierbandits.logs import Split, Survey


@pytest.fixture(scope="module")
def trained():
    _, frame, log = context_log(2, count=150, stores=3, population=None)
    survey = Survey.of(log)
    sums = sums_by_group(log, Split.none()).total()
    return frame, survey, Training.of(survey, 0, sums, None, None)


@pytest.mark.parametrize("policy", [None, "HierTS", "TS", "PooledTS"])
def test_arms_have_the_posterior_of_their_features(trained, policy, monkeypatch):
    frame, survey, training = trained
    monkeypatch.setattr("hierbandits.evaluation.context_training.CHUNK", 1000)
    encoder = survey.log.encoder
    (rows,) = survey.rows()
    pairs = Pairs.of(rows.only(slice(0, 40)), 3)
    asked = ContextTraining(training, encoder).at(pairs)
    recipe = POLICIES[policy] if policy else None
    found = asked.model() if recipe is None else asked.arm_posteriors(recipe)
    whole = training.model() if recipe is None else training.arm_posteriors(recipe)
    x = encoder.encode(frame.head(40))
    for e, task in enumerate(pairs.tasks):
        theta = whole.belief.task(int(whole.row[task]))
        assert_allclose(found.means[e], x[e] @ theta.mean, rtol=1e-9, atol=1e-12)
        assert_allclose(found.covs[e], x[e] @ theta.cov @ x[e].T, rtol=1e-8, atol=1e-12)
        assert_allclose(found.prediction.std[e] ** 2, np.diagonal(found.covs[e]), rtol=1e-9)
    again = asked.model() if recipe is None else asked.arm_posteriors(recipe)
    assert again is found  # a batch is asked about once
    assert_allclose(asked.arm_values(), training.arm_values())


def test_draws_have_the_moments_of_the_arms(trained):
    _, survey, training = trained
    (rows,) = survey.rows()
    asked = ContextTraining(training, survey.log.encoder).at(Pairs.of(rows.only(slice(0, 3)), 3))
    found = asked.model()
    normals = np.random.default_rng(0).standard_normal((3, 20_000, found.draw_dim))
    drawn = found.drawn(np.arange(3), normals)
    for e in range(3):
        std = np.sqrt(np.diagonal(found.covs[e]))
        assert (np.abs(drawn[e].mean(0) - found.means[e]) < 6 * std / np.sqrt(20_000)).all()
        spread = np.sqrt((np.outer(std, std) ** 2 + found.covs[e] ** 2) / 20_000)
        assert (np.abs(np.cov(drawn[e].T) - found.covs[e]) < 6 * spread).all()


def test_all_rows_playing_an_arm_are_expected_to_earn_its_value(trained):
    frame, survey, training = trained
    x, model = survey.log.encoder.encode(frame), training.model()
    task = [survey.tasks.index(name) for name in frame["store"]]
    each = [x[e] @ model.belief.task(s).mean for e, s in enumerate(task)]
    assert_allclose(training.arm_values(), np.mean(each, axis=0), rtol=1e-9)
