"""Noises of arms, from the log to the page."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from support.fits import uneven_sums
from support.learn_logs import uneven_report

from hierbandits import learn_prior
from hierbandits.fitting import fit_prior
from hierbandits.learning.one_noise import OneNoise
from hierbandits.learning.predictor import Predictor
from hierbandits.learning.sentence import Claim

NOISES = np.array([0.1, 0.3, 1.5])


def test_sums_are_weighed_by_the_noises_of_the_fit():
    sums, squares = uneven_sums(np.random.default_rng(0), NOISES, tasks=20, events=40)
    fit = fit_prior(sums, squares=squares, intervals=False)
    as_one = OneNoise.of(fit, sums, squares)
    np.testing.assert_allclose(fit.prior.noise_std**2 * as_one.variances, fit.noise_width.std**2)
    np.testing.assert_allclose(as_one.sums.xx * as_one.variances, sums.xx)
    left = as_one.sums.yy - (as_one.sums.xy**2 / np.maximum(as_one.sums.xx, 1e-9)).sum(1)
    freedom = sums.n.sum() - (sums.xx > 0).sum()
    assert left.sum() / freedom == pytest.approx(fit.prior.noise_std**2, rel=0.1)
    plain = OneNoise.of(fit_prior(sums, intervals=False), sums, squares)
    assert (plain.sums, plain.variances) == (sums, None)


def test_each_model_predicts_rows_with_the_noise_of_their_arm():
    rng = np.random.default_rng(1)
    sums, squares = uneven_sums(rng, NOISES, tasks=30, events=60)
    fit = fit_prior(sums, squares=squares, intervals=False)
    as_one, population = OneNoise.of(fit, sums, squares), np.zeros(30, int)
    each = Predictor.of_each_model(fit.prior, as_one.sums, population, None, as_one.variances)
    for predictor in each.values():
        noise = np.sqrt(predictor.noise_of(np.array([2, 0, 1, 2])))
        assert noise[0] == noise[3]
        np.testing.assert_allclose(noise[1:3] / noise[0], NOISES[:2] / NOISES[2], rtol=0.15)
    assert np.sqrt(each["hierarchical"].noise_of(np.array([1])))[0] == pytest.approx(0.3, rel=0.1)


def test_equal_tasks_stay_equal_where_noises_differ():
    """One noise for all would tell the width of the noisiest arm from zero."""
    for seed in range(3):
        report = uneven_report(seed)
        assert report.structure.has_noise_by_arm
        assert report.similarity.maybe_zero.all()
        assert report.comparison.best == "pooled"
        assert Claim.NO_OUTLIERS in report.claims


def test_tasks_that_differ_are_seen_where_the_noise_is_low():
    similarity = uneven_report(task_std=0.2).similarity
    assert similarity.maybe_zero.tolist()[:2] == [False, False]
    np.testing.assert_allclose(similarity.task_std[:2], 0.2, rtol=0.4)
    np.testing.assert_allclose(similarity.rewards_to_equal[:2], (NOISES[:2] / 0.2) ** 2, rtol=0.7)
    np.testing.assert_allclose(similarity.share[0], 0.04 / (0.04 + 0.01), atol=0.15)


def test_the_report_has_the_noise_of_each_arm():
    report = uneven_report()
    similarity = report.similarity
    np.testing.assert_allclose(similarity.noise_of_arms, NOISES, rtol=0.1)
    low, high = similarity.noise_of_arms_low, similarity.noise_of_arms_high
    assert ((low < NOISES) & (high > NOISES)).all()
    whole = np.sqrt((NOISES**2).mean())
    assert similarity.noise_low < whole < similarity.noise_high
    assert similarity.noise_high / similarity.noise_low < 1.2
    assert report.prior.noise_std == similarity.noise_std == pytest.approx(whole, rel=0.1)
    sections = {section.name: section for section in report.sections()}
    assert {len(row) for section in sections.values() for row in section.rows
            if section.name == "widths"} == {11}  # fmt: skip
    assert [float(row[8]) for row in sections["widths"].rows] == pytest.approx(NOISES, rel=0.1)
    structure = sections["structure"]
    assert [row[2] for row in structure.rows] == ["one"] * 4 + ["one for each arm"] * 4
    assert {len(row) for row in structure.rows} == {len(structure.columns)}
    assert sum(float(row[-1]) for row in structure.rows) == pytest.approx(1.0, abs=0.01)
    least, most = (f"{end(similarity.noise_of_arms):.3g}" for end in (np.min, np.max))
    assert f"is from {least} to {most}, by arm" in sections["widths"].caption
    assert len(sections["widths"].draw().axes[1].lines) > 0
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["similarity"]["noise_of_arms"] == pytest.approx(NOISES, rel=0.1)
    assert plain["structure"]["noise_by_arm"] is True


def test_predictions_hold_where_noises_differ():
    rows = uneven_report().calibration.of_rows
    assert rows.holds
    # with one noise, half of the rows would lie where 50 % intervals hold nearly all of them
    one = np.mean(2 * stats.norm.cdf(0.674 * np.sqrt((NOISES**2).mean()) / NOISES) - 1)
    assert one > 0.7 > rows.coverage[0]


def test_a_sentence_says_what_has_noises_and_what_has_not():
    sentence = uneven_report().claims[Claim.NOISE_OF_ARMS]
    assert sentence.about == ("a", "c")
    assert sentence.log_odds > 100
    check = uneven_report().claims[Claim.NOISE_BY_ARM]
    assert check.text.endswith("take that into account; the prior and the start do not.")
    even = uneven_report(noises=(0.5, 0.5, 0.5))
    assert not {Claim.NOISE_OF_ARMS, Claim.NOISE_BY_ARM} & even.claims.keys()
    assert even.similarity.noise_of_arms is None
    assert "noise std" not in even.sections()[1].columns


@pytest.mark.parametrize("heavy", [True, False])
def test_heavy_tails_are_not_taken_for_noises_of_arms(heavy):
    """Four arms of one noise with heavy tails, or of two noises that are Gaussian."""
    rng = np.random.default_rng(77)
    task, arm = np.repeat(np.arange(25), 60), rng.integers(0, 4, 1500)
    noise = rng.standard_t(2, 1500) if heavy else rng.normal(size=1500) * np.where(arm == 2, 3, 1)
    reward = rng.normal(size=(25, 4))[task, arm] + noise
    frame = pl.DataFrame({"task": task, "arm": arm, "reward": reward})
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    _, report = learn_prior(frame, **columns, runs=0, held_out=0, progress=False)
    assert report.structure.has_noise_by_arm
    sentence = report.claims[Claim.NOISE_OF_ARMS]
    assert ("that may be right" in sentence.text) == heavy
    assert (sentence.log_odds is None) == heavy
    assert (Claim.NOISE_BY_ARM in report.claims) != heavy
