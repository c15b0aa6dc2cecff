"""Priors that logs of clicks and counts teach, with their reports."""

import numpy as np
import polars as pl
import pytest
from support.click_logs import click_log, learned_clicks

import hierbandits as hb
from hierbandits.learning.sentence import Claim


@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_arms_give_a_start_that_knows_the_log(family):
    log, report = learned_clicks(family=family)
    prior = report.prior
    assert isinstance(prior, hb.GeneralizedHierarchy)
    assert family == prior.rewards.NAME
    assert prior.arms == report.arms
    agent = hb.Agent(report.start, seed=0)
    table, sums = pl.DataFrame(agent.table()), log.sums()
    assert table["rewards"].sum() == report.num_rows
    for name, each in table.group_by("task"):
        place = report.shrinkage.tasks.index(name[0])
        task, order = int(name[0][1:]), [int(arm[1:]) for arm in report.arms]
        means = each["mean"].to_numpy()
        mean, std = report.shrinkage.mean[place], report.shrinkage.std[place]
        np.testing.assert_allclose(means, prior.rewards.mean_and_std(mean, std)[0], rtol=0.02)
        rates = (sums.xy[task] / sums.xx[task])[order]
        pooled = (sums.xy.sum(0) / sums.xx.sum(0))[order]
        low, high = np.minimum(rates, pooled), np.maximum(rates, pooled)
        assert ((0.8 * low < means) & (means < 1.2 * high)).all()  # shrunk


def test_features_give_a_start_that_knows_what_tasks_have_in_common():
    log, report = learned_clicks(armed=False)
    assert report.start.tasks == ()
    agent = hb.Agent(report.start, seed=0)
    np.testing.assert_allclose(agent.belief.hyper().mean, report.prior.hyper_mean)
    np.testing.assert_allclose(report.prior.hyper_mean, log.theta.mean(0), atol=0.6)
    assert "row by row" in report.claims[Claim.FAMILY].text


def test_the_report_says_what_rewards_are_and_how_they_are_kept(tmp_path):
    _, report = learned_clicks()
    text = report.claims[Claim.FAMILY].text
    assert "bernoulli" in text
    assert "log odds" in text
    assert "sums" in text
    assert "log odds" in report.sections()[0].words[-1]
    data = report.to_dict()
    assert data["settings"]["rewards"] == {"name": "bernoulli"}
    assert report.calibration.rows > 0
    report.write(tmp_path / "out")
    start = hb.Start.load(tmp_path / "out" / "start.hb")
    assert start.num_rows == report.num_rows


def test_several_populations_give_the_learned_hyper_prior():
    log = click_log(12, tasks=24, rows=50)
    frame = log.frame().with_columns(country=pl.Series([f"c{s % 3}" for s in log.tasks]))
    prior, report = hb.learn_prior(
        frame,
        **log.arguments,
        population="country",
        rewards="bernoulli",
        structure="scalar",
        runs=2,
    )
    np.testing.assert_allclose(prior.hyper_cov, report.similarity.hyper_std**2, rtol=1e-6)
    assert report.start.tasks == ()


@pytest.mark.parametrize(
    ("family", "bad", "message"),
    [
        ("bernoulli", 2.0, "reward must be 0 or 1, got 2 in column 'clicks' at row 77"),
        ("poisson", -1.0, "reward must be counts, whole numbers of at least 0, got -1 in column"),
        ("poisson", 0.5, "got 0.5 in column 'clicks' at row 77"),
    ],
)
@pytest.mark.parametrize("armed", [True, False])
def test_rewards_that_a_family_cannot_have_are_refused_by_row(family, bad, message, armed):
    log = click_log(13, armed=armed)
    log.rewards[[77, 200]] = bad
    with pytest.raises(ValueError, match=message):
        hb.learn_prior(log.frame(), **log.arguments, rewards=family)


def test_what_does_not_go_together_is_refused():
    log = click_log(14)
    with pytest.raises(ValueError, match="noise_std must not be given: bernoulli"):
        hb.learn_prior(log.frame(), **log.arguments, rewards="bernoulli", noise_std=1.0)
    with pytest.raises(ValueError, match="rewards must be one of"):
        hb.learn_prior(log.frame(), **log.arguments, rewards="beta")
    some = hb.Limits(cells=4000)
    linear = click_log(14, armed=False)
    with pytest.raises(ValueError, match="log must have at most 444 rows that are kept"):
        hb.learn_prior(linear.frame(), **linear.arguments, rewards="bernoulli", limits=some)


def test_a_family_is_proposed_to_who_names_none():
    log = click_log(15)
    arguments = log.arguments | {"runs": 0, "held_out": 0, "structure": "scalar"}
    report = hb.learn_prior(log.frame(), **arguments)[1]
    assert "--rewards bernoulli" in report.claims[Claim.FAMILY].text
    counts = log.frame().with_columns(clicks=pl.Series(log.rewards * 3))
    report = hb.learn_prior(counts, **arguments)[1]
    assert "--rewards poisson" in report.claims[Claim.FAMILY].text
    other = log.frame().with_columns(clicks=pl.Series(log.rewards - 0.5))
    assert Claim.FAMILY not in hb.learn_prior(other, **arguments)[1].claims
    given = hb.learn_prior(log.frame(), **arguments, rewards="gaussian")[1]
    assert Claim.FAMILY not in given.claims
