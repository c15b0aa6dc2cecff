"""A start on trial."""

import numpy as np
import pytest
from support.learn_logs import drawn, sums_of
from support.oracle import full

from hierbandits import GaussianHierarchy, Start, UnknownWidths
from hierbandits.beliefs.width_refit import work_of_task
from hierbandits.fitting import fit_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning import start_trial
from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.players import after_sums
from hierbandits.learning.start_trial import BEST_ARM, NEW, NOTHING, OWN, PLAYERS, START, StartTrial


def trial_of(rows, prior=None, horizon=4, runs=6, seed=0):
    sums = sums_of(rows)
    fit = fit_prior(sums)
    start = Start(prior or UnknownWidths.of(rows.dim, armed=rows.armed), sums, rows.names)
    offers = None
    if not rows.armed:
        names = tuple(f"x{j}" for j in range(rows.dim))
        offers = LogOffers.of(rows.features, rows.task, names)
    return StartTrial(
        start, fit, after_sums(fit.prior, sums), None, offers, horizon=horizon, runs=runs, seed=seed
    )


@pytest.mark.parametrize("armed", [True, False])
def test_all_play_in_new_tasks_and_in_the_logs_own(armed):
    trial = trial_of(drawn(4, armed=armed, tasks=7, events=10))
    assert trial.num_tasks == {NEW: 20, OWN: 7}
    for tasks in (NEW, OWN):
        for policy in PLAYERS:
            regret = trial.regret(tasks, policy)
            assert regret.shape == (4, 6, trial.num_tasks[tasks])
            assert (np.diff(regret, axis=0) >= -1e-12).all()
            assert (regret >= -1e-12).all()
            np.testing.assert_array_equal(regret, trial.regret(tasks, policy))


def test_the_horizon_is_a_typical_tasks_rows_at_most_a_hundred():
    assert trial_of(drawn(4, armed=True, tasks=7, events=10), horizon=None).horizon == 10
    long = drawn(4, armed=True, tasks=5, events=150)
    assert trial_of(long, horizon=None).horizon == 100
    assert trial_of(long, horizon=130).horizon == 130


def test_a_start_looks_again_only_if_rewards_grow_enough_and_there_is_time(monkeypatch):
    rows = drawn(4, armed=True, tasks=7, events=10)
    assert trial_of(rows).looks
    assert not trial_of(drawn(4, armed=True, tasks=60, events=60), horizon=1).looks
    known = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    assert not trial_of(rows, known).looks
    work = 27.0 * work_of_task(UnknownWidths.of(3, armed=True))  # of 7 + 20 tasks
    monkeypatch.setattr(start_trial, "MOST_WORK", work * 25)
    assert (trial_of(rows, runs=60).runs, trial_of(rows, runs=9).runs) == (25, 9)
    monkeypatch.setattr(start_trial, "MOST_WORK", work * 2)
    assert (trial_of(rows, runs=60).runs, trial_of(rows).looks) == (20, True)
    monkeypatch.setattr(start_trial, "MOST_WORK", work * 1.9)
    assert (trial_of(rows).looks, trial_of(rows).players) == (False, PLAYERS)
    monkeypatch.setattr(start_trial, "MOST_WORK", work)
    assert trial_of(rows).players == PLAYERS[:-1]


@pytest.mark.parametrize("armed", [True, False])
def test_more_tasks_of_the_same_worlds_have_regret_of_the_same_size(armed):
    trial = trial_of(drawn(4, armed=armed, tasks=7, events=10, task_std=1.0), horizon=6, runs=40)
    first, others = trial.regret(NEW, START)[-1], trial.others_regret()
    assert (first.shape, others.shape) == ((40, 20), (40, 60))
    np.testing.assert_array_equal(others, trial.others_regret())
    assert np.corrcoef(first.mean(1), others.mean(1))[0, 1] > 0.5  # each row is of one world
    sets = others.reshape(40, 3, 20).mean(2)
    luck = first.var(1, ddof=1).mean() / 20
    assert np.mean((sets - first.mean(1)[:, None]) ** 2) < 6 * luck  # of two sets: 2


def test_more_tasks_act_only_where_there_is_time(monkeypatch):
    rows = drawn(4, armed=True, tasks=7, events=10)
    work = 27.0 * work_of_task(UnknownWidths.of(3, armed=True))  # of 7 + 20 tasks
    for times, sets in ((20.5, 4), (10.5, 2), (5.5, 1)):
        monkeypatch.setattr(start_trial, "MOST_WORK", work * times)
        trial = trial_of(rows, horizon=1, runs=60)
        assert trial.others_regret().shape == (20, 20 * (sets - 1))


@pytest.mark.parametrize("tasks", [NEW, OWN])
def test_a_start_that_does_not_look_is_played_with_the_widths_of_its_log(tasks):
    rows = drawn(4, armed=True, tasks=30, events=40, task_std=1.0, noise=1.0)
    looking, still = trial_of(rows, horizon=3, runs=5), trial_of(rows, horizon=3, runs=5)
    looking.looks, still.looks = True, False
    # No look falls due in so few rounds, so both know the same, and choose by the same normals.
    known = []
    for trial in (looking, still):
        player = trial._player(START, trial._scenes[tasks])
        arms = np.tile(np.arange(3), player.nodes.size)
        found = player.policy.belief.predict(np.repeat(player.nodes, 3), arms)
        known.append([found.mean, found.std])
    np.testing.assert_allclose(*known, rtol=1e-9)
    one, other = (trial.regret(tasks, START) for trial in (looking, still))
    assert (one[-1].sum(axis=1) > 0).all()
    assert np.mean(one != other) < 0.05  # where two arms are as good, rounding decides


def test_what_the_log_taught_is_worth_something_and_equal_tasks_are_best_pooled():
    rows = drawn(9, armed=True, tasks=20, events=60, task_std=0.0, noise=1.0, d=4)
    trial = trial_of(rows, horizon=30, runs=20)
    regret = {name: trial.regret(NEW, name)[-1].mean() for name in PLAYERS}
    assert regret[START] < 0.5 * regret[NOTHING]
    assert regret["PooledTS"] < regret[NOTHING]
    wide = trial_of(
        drawn(9, armed=True, tasks=20, events=60, task_std=1.0, d=4), horizon=30, runs=20
    )
    assert wide.regret(NEW, START)[-1].mean() < 0.7 * wide.regret(NEW, BEST_ARM)[-1].mean()
    assert wide.regret(OWN, START)[-1].mean() < 0.5 * wide.regret(NEW, START)[-1].mean()


def test_worlds_have_the_forms_that_the_log_allows():
    """Where a part in common fits best and one width for all may be, some worlds have that."""
    rows = drawn(4, armed=True, tasks=12, events=30, task_std=0.5, noise=1.0)
    sums = sums_of(rows)
    fit = fit_prior(sums, structure="common")
    start = Start(UnknownWidths.of(3, armed=True), sums, rows.names)
    for scalar, common in ((0.4, 0.6), (0.0, 1.0), (1.0, 0.0)):
        parts = {"scalar": scalar, "diagonal": 0.0, "common": common}
        logs = {name: float(np.log(max(part, 1e-9))) for name, part in parts.items()}
        choice = StructureChoice(logs, dict.fromkeys(logs, 1), 12)
        np.testing.assert_allclose(start_trial.shares_of(choice), (scalar, 0, common), atol=1e-8)
        trial = StartTrial(
            start, fit, after_sums(fit.prior, sums), None, None, horizon=2, runs=60, seed=0
        )
        drawn_ones = trial._hierarchies(np.random.default_rng(0), fit, choice)
        same = [np.ptp(np.diagonal(full(h.task_cov))) < 1e-9 for h in drawn_ones]
        assert abs(np.mean(same) - scalar) <= 4 * np.sqrt(scalar * (1 - scalar) / 60)


def test_a_part_in_common_is_fitted_where_another_structure_was_chosen():
    rows = drawn(4, armed=True, tasks=12, events=30, task_std=0.5, noise=1.0)
    prior = UnknownWidths.of(3, armed=True)
    assert start_trial.with_common(sums_of(rows), prior, 0.3).task_cov[0, 1] > 0
    assert start_trial.with_common(sums_of(rows), prior, 0.001) is None


def test_stated_widths_are_off_by_their_errors():
    rows = drawn(4, armed=False, tasks=30, events=20)
    fit = fit_prior(sums_of(rows))
    rng = np.random.default_rng(0)
    widths = [np.diagonal(full(start_trial.jittered(rng, fit).task_cov)) for _ in range(2000)]
    logs = np.log(widths) / 2
    np.testing.assert_allclose(logs.mean(0), np.log(fit.task_widths.std), atol=0.05)
    np.testing.assert_allclose(logs.std(0), fit.task_widths.log_error, rtol=0.1)
