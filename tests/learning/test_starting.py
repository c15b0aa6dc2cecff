"""The start that a log teaches."""

import numpy as np
import pytest
from support.learn_logs import drawn, learned, sums_of

from hierbandits import Agent, UnknownWidths, learn_prior
from hierbandits.learning.starting import start_from
from hierbandits.logs import Survey


@pytest.mark.parametrize("armed", [True, False])
def test_one_population_is_known_task_by_task_and_its_widths_stay_open(armed):
    rows, prior, report = learned(armed)
    start = report.start
    assert isinstance(start.prior, UnknownWidths)
    assert (start.prior.dim, start.prior.is_armed, start.prior.noise_std) == (3, armed, None)
    assert start.tasks == tuple(rows.names)
    assert start.arms == report.arms
    np.testing.assert_allclose(start.sums.xy, sums_of(rows).xy)
    agent = Agent(start, seed=0)
    np.testing.assert_allclose(agent.belief.hyper(0).mean, prior.hyper_mean, atol=0.1)
    assert agent.decide("t3", None if armed else np.eye(3)).task == "t3"


def test_a_noise_that_is_stated_stays_stated():
    rows, _, report = learned(True)
    survey = Survey.of(rows.log())
    assert start_from(survey, sums_of(rows), report.before_log, 0.7).prior.noise_std == 0.7


def test_correlations_that_open_widths_would_miss_are_stated():
    rows = drawn(41, armed=True, tasks=100, events=60, task_std=0.0, hyper_std=0.5)
    rng = np.random.default_rng(0)
    signs = np.array([1.0, -1.0, 1.0])
    lifted = rng.normal(size=100)[rows.task] * signs[rows.features]
    frame = rows.frame().with_columns(revenue=rows.rewards + lifted)
    prior, report = learn_prior(frame, **rows.arguments, held_out=0, runs=4, progress=False)
    assert report.structure.best == "full"
    assert report.start.prior is report.before_log
    assert report.start.num_rows == rows.task.size
    np.testing.assert_allclose(Agent(report.start).belief.hyper(0).mean, prior.hyper_mean)
    assert report.promises.of("own").mean >= 0
    together = rng.normal(size=100)[rows.task]
    frame = rows.frame().with_columns(revenue=rows.rewards + together)
    _, report = learn_prior(frame, **rows.arguments, held_out=0, runs=0, progress=False)
    assert report.structure.best == "common"
    assert not report.start.prior.widths_known


def test_many_arms_with_a_factor_are_stated_and_their_promise_holds():
    """Fourteen arms on a line from 1 to -1: as independent ones they would have 11 of regret."""
    rng, line = np.random.default_rng(4), np.linspace(1, -1, 14)
    mu = 0.3 * rng.normal(size=14)
    theta = mu + np.outer(rng.normal(size=80), line) + 0.1 * rng.normal(size=(80, 14))
    task, arm = np.repeat(np.arange(80), 150), rng.integers(14, size=80 * 150)
    log = {"task": task, "arm": arm, "reward": theta[task, arm] + rng.normal(size=task.size)}
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    asked = {"held_out": 0, "runs": 20, "horizon": 40, "progress": False}
    _, report = learn_prior(log, **columns, **asked)
    assert (report.structure.best, report.structure.rank) == ("low-rank", 1)
    assert report.start.prior is report.before_log
    ends = [report.arms.index(arm) for arm in (0, 13)]
    assert report.correlations.matrix[*ends] < -0.9
    assert not report.outliers.flagged.any()
    promise = report.promises.of("new")
    assert 2.5 < promise.mean < 5.0  # it had 3.5


@pytest.mark.parametrize("armed", [True, False])
def test_several_populations_leave_what_they_taught_in_the_prior(armed):
    _, prior, report = learned(armed, 3)
    assert report.start.prior is prior
    assert (report.start.tasks, report.start.num_rows) == ((), 0)
    Agent(report.start, seed=0).decide("new", None if armed else np.eye(3))
