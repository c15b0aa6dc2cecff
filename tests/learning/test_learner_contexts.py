"""What a log with contexts teaches."""

import numpy as np
import polars as pl
import pytest
from support.context_worlds import NAMES, PROMOS, context_log

import hierbandits as hb
from hierbandits.learning.sentence import Claim


@pytest.fixture(scope="module")
def learned():
    world, frame, log = context_log(4, count=1200, stores=12)
    return world, frame, log, hb.learn_prior(log, runs=2, horizon=3, structure="diagonal")[1]


def test_the_report_speaks_of_arms_and_their_contexts(learned, tmp_path):
    _, _, log, report = learned
    assert report.similarity.coordinates == log.encoder.coordinates
    assert report.start.encoder is log.encoder
    assert set(report.log.arms) == set(PROMOS)
    assert "Features are those of who comes, in the place of one of 3 arms" in (
        report.promises.offered
    )
    data = report.to_dict()
    assert hb.Encoder.from_dict(data["encoder"]) == log.encoder
    page = report.write(tmp_path).read_text()
    for words in ("Who comes", "promo=flyer × age", "numbers: mean"):
        assert words in page
    assert hb.Start.load(tmp_path / "start.hb").encoder == log.encoder


def test_what_is_learned_is_true(learned):
    """The coefficients of all tasks on average, beside the world's."""
    world, _, log, report = learned
    coordinates, std = list(log.encoder.coordinates), log.encoder.columns[0].std
    for place, promo in enumerate(PROMOS):
        j = coordinates.index(f"promo={promo} × age")
        truth = world.slope[:, place].mean() * std / 10
        assert abs(report.prior.hyper_mean[j] - truth) < 5 * np.sqrt(report.prior.hyper_cov[j, j])


def test_the_noise_is_compared_by_arm():
    _, frame, _ = context_log(5, count=1500, stores=6)
    luck = np.random.default_rng(0).normal(0, 2.0, 1500)
    noisy = pl.when(pl.col("promo") == "flyer").then(pl.Series(luck)).otherwise(0.0)
    frame = frame.with_columns(revenue=pl.col("revenue") + noisy)
    _, report = hb.learn_prior(frame, **{**NAMES, "features": ["age"]}, runs=0, held_out=0)
    assert report.claims[Claim.NOISE_BY_ARM].about == ("flyer",)


def test_what_does_not_fit_is_refused():
    _, frame, _ = context_log(5, count=60)
    with pytest.raises(ValueError, match="context must come with features alone"):
        hb.learn_prior(frame, **NAMES, context=["age"], runs=0)
    with pytest.raises(
        ValueError, match=r"context must vary, got 3.0 in every row of column 'age'"
    ):
        hb.learn_prior(frame.with_columns(age=pl.lit(3.0)), **NAMES, runs=0)
    with pytest.raises(ValueError, match="arm must have at least two values in the log"):
        hb.learn_prior(frame.filter(pl.col("promo") == "none"), **NAMES, runs=0)
    with pytest.raises(ValueError, match=r"limits\.fit\), got .* 15 features"):
        hb.learn_prior(frame, **NAMES, limits=hb.Limits(fit=1000), runs=0)
