"""Held-out clicks beside what was predicted of them."""

import numpy as np
import pytest
from support.click_logs import click_log

import hierbandits as hb


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_predictions_of_the_right_family_hold(armed, family):
    log = click_log(21, armed=armed, family=family, tasks=30, rows=120, rate=0.3)
    report = hb.learn_prior(
        log.frame(), **log.arguments, rewards=family, structure="diagonal", runs=0, held_out=0.4
    )[1]
    calibration = report.calibration
    assert not calibration.two_valued
    assert calibration.histogram.sum() == calibration.rows
    assert not any(coverage.wrong for coverage in calibration.judged.values())
    assert 0.75 < calibration.cells.z_std < 1.3
    assert calibration.advantage["pooled"][0] > 0
    assert np.isfinite(list(calibration.log_score.values())).all()


def test_counts_that_vary_more_than_poisson_are_seen():
    log = click_log(22, family="poisson", tasks=30, rows=120, rate=1.0)
    rng = np.random.default_rng(0)
    log.rewards[:] = rng.poisson(rng.gamma(0.3, 1 / 0.3, log.rewards.size))
    report = hb.learn_prior(
        log.frame(), **log.arguments, rewards="poisson", structure="scalar", runs=0, held_out=0.4
    )[1]
    assert report.calibration.of_rows.wrong
