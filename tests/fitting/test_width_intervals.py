"""Intervals of learned widths cover at their rate, and zero is ruled out at its own."""

import numpy as np
import pytest
from support.fits import drawn_sums

from hierbandits import TaskSums
from hierbandits.fitting import fit_prior


@pytest.mark.parametrize("structure", ["scalar", "diagonal", "full"])
def test_intervals_cover_at_their_rate(structure):
    """30 tasks, 50 data sets: each of the widths and the noise is within 6 standard errors."""
    rng = np.random.default_rng(7)
    runs, stds = 50, np.array([0.3, 0.3])
    inside = []
    for _ in range(runs):
        sums = drawn_sums(rng, tasks=30, events=15, task_cov=np.diag(stds**2), noise=0.5,
                      hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        task, noise = fit.task_widths, fit.noise_width
        low, high = np.append(task.low, noise.low), np.append(task.high, noise.high)
        truth = np.append(stds, 0.5)
        inside.append((low < truth) & (truth < high))
    cover = np.mean(inside, axis=0)
    assert (np.abs(cover - 0.95) < 6 * np.sqrt(0.95 * 0.05 / runs)).all(), cover


def test_widths_that_the_data_cannot_see_may_be_zero():
    """Tasks differ along the first feature alone: the second's interval starts at zero."""
    rng = np.random.default_rng(14)
    cov = np.diag([0.25, 1e-8])
    for armed in (False, True):
        sums = drawn_sums(rng, tasks=40, events=20, task_cov=cov, noise=0.5, hyper_cov=np.eye(2),
                      mean=np.ones(2), armed=armed)  # fmt: skip
        for structure in ("diagonal",) if armed else ("diagonal", "full", "low-rank"):
            widths = fit_prior(sums, structure=structure).task_widths
            assert widths.maybe_zero.tolist() == [False, True]
            assert widths.low[0] > 0.3
            assert widths.low[1] == 0.0
            assert widths.std[1] < 0.15


def test_zero_is_ruled_out_at_its_rate():
    """Where tasks do not differ, one in forty widths is taken for one that does."""
    rng = np.random.default_rng(23)
    runs = 60
    for structure, d in (("diagonal", 1), ("full", 2)):
        out = []
        for _ in range(runs):
            sums = drawn_sums(rng, tasks=20, events=15, task_cov=np.zeros((d, d)), noise=1.0,
                          hyper_cov=np.eye(d), mean=np.zeros(d))  # fmt: skip
            out.append(~fit_prior(sums, structure=structure).task_widths.maybe_zero)
        assert np.mean(out) < 0.025 + 4 * np.sqrt(0.025 * 0.975 / runs), structure


def _few_rows(rng, tasks, rows, width):
    """Five arms at random, noise 1, and tasks that differ by `width`."""
    theta = rng.normal(size=5) + width * rng.normal(size=(tasks, 5))
    task = np.repeat(np.arange(tasks), rows)
    arm = rng.integers(0, 5, task.size)
    sums = TaskSums.zeros(tasks, 5, armed=True)
    sums.add(task, arm, theta[task, arm] + rng.normal(size=task.size))
    return sums


def test_equal_tasks_of_two_rows_look_equal_and_leave_the_noise_alone():
    """With two rows a task, noise can hardly be told from widths; none of them is negative."""
    rng, runs = np.random.default_rng(40), 24
    told, held = [], []
    for _ in range(runs):
        fit = fit_prior(_few_rows(rng, 500, 2, 0.0))
        told.append(~fit.task_widths.maybe_zero)
        held.append(fit.noise_width.low[0] <= 1.0 <= fit.noise_width.high[0])
    assert np.mean(told) <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / (5 * runs))
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)


def test_three_tasks_leave_room_for_wide_ones():
    rng, runs, held = np.random.default_rng(41), 30, []
    for _ in range(runs):
        widths = fit_prior(_few_rows(rng, 3, 20, 2.0)).task_widths
        held.append((widths.low <= 2.0) & (widths.high >= 2.0))
    assert np.mean(held) >= 0.9 - 3 * np.sqrt(0.9 * 0.1 / (5 * runs))


def test_wide_tasks_of_very_many_rows_are_told_from_equal_ones():
    """A task of 100,000 rows takes even a thousandth of a width for a width."""
    rng = np.random.default_rng(42)
    rows = np.array([1, 10, 100, 1000, 10**4, 10**5, 3, 30, 300, 3000, 10**5])
    sums = _few_rows(rng, rows.size, rows, 2.0)
    widths = fit_prior(sums).task_widths
    assert not widths.maybe_zero.any()
    assert (widths.low > 0.5).all()


def test_a_single_task_sets_no_upper_end():
    sums = _few_rows(np.random.default_rng(43), 1, 50, 1.0)
    fit = fit_prior(sums)
    assert fit.task_widths.maybe_zero.all()
    assert (fit.task_widths.low == 0.0).all()
    assert np.isinf(fit.task_widths.high).all()
    assert 0.7 < fit.noise_width.low[0] < fit.noise_width.std[0] < fit.noise_width.high[0] < 1.5


def test_no_intervals_unless_asked_for():
    sums = _few_rows(np.random.default_rng(44), 20, 20, 0.5)
    fit, bare = fit_prior(sums), fit_prior(sums, intervals=False)
    assert bare.means is None
    assert np.isnan([*bare.task_widths.low, *bare.noise_width.high]).all()
    np.testing.assert_array_equal(bare.prior.task_cov, fit.prior.task_cov)
    np.testing.assert_array_equal(bare.task_widths.log_error, fit.task_widths.log_error)
