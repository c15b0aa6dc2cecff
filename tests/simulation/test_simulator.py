"""The simulator: every policy, environment and schedule beside plain loops, paired, any jobs."""

import numpy as np
import pytest
from support.environments import ENVIRONMENTS, GIVEN
from support.plain_simulation import plain_simulation

from hierbandits import POLICIES, Recipe, simulate
from hierbandits.environments.known_bandit import KnownWorlds
from hierbandits.models.variants import as_given
from hierbandits.simulation.schedules import IDLE, SCHEDULES, Concurrent, Custom, Federated


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs_in_every_environment(name, policy):
    """Its regret is that of plain loops over the same events."""
    environment = ENVIRONMENTS[name]
    study = simulate(environment, [policy], Concurrent(2), runs=3, num_interactions=4)
    plain = plain_simulation(environment, policy, Concurrent(2), runs=3, num_interactions=4)
    outcome = study.outcomes[policy]
    assert study.runs == 3
    assert study.rounds.tolist() == list(range(1, 11))
    np.testing.assert_allclose(outcome.curve, plain.curve, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outcome.per_task, plain.per_task, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outcome.total, plain.curve[:, -1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_runs(schedule):
    """Its regret, task by task and round by round, is that of plain loops."""
    environment, runs = ENVIRONMENTS["armed"], {"runs": 3, "num_interactions": 4}
    study = simulate(environment, ["HierTS"], SCHEDULES[schedule], seed=2, **runs)
    plain = plain_simulation(environment, "HierTS", SCHEDULES[schedule], seed=2, **runs)
    outcome = study.outcomes["HierTS"]
    np.testing.assert_allclose(outcome.per_task, plain.per_task, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(outcome.curve, plain.curve, rtol=1e-9, atol=1e-12)


def _always(choose):
    """A policy that plays the arm choose(means) of each task, whatever it has learned."""

    def rule(belief, rng, tasks, arms):
        return choose(GIVEN.means, axis=1)[tasks % GIVEN.num_tasks]

    return Recipe(as_given, rule, "knows the means")


def test_always_the_best_arm_has_no_regret_and_always_the_worst_the_most():
    policies = {"best": _always(np.argmax), "worst": _always(np.argmin)}
    study = simulate(GIVEN, policies, Federated(), runs=3, num_interactions=7)
    np.testing.assert_array_equal(study.outcomes["best"].curve, np.zeros((3, 7)))
    np.testing.assert_array_equal(study.outcomes["best"].per_task, np.zeros((3, 5)))
    most = 7 * np.ptp(GIVEN.means, axis=1)
    np.testing.assert_allclose(study.outcomes["worst"].per_task, [most] * 3, rtol=1e-12)


def _study(policies, jobs=1, runs=430, seed=5, name="linear, arms per round"):
    return simulate(
        ENVIRONMENTS[name],
        policies,
        Concurrent(3),
        runs=runs,
        seed=seed,
        num_interactions=6,
        jobs=jobs,
    )


def test_numbers_depend_neither_on_jobs_nor_on_company_nor_on_later_runs():
    alone = _study(["HierTS"])
    company = _study(["TS", "HierTS", "HierUCB"], jobs=2)
    fewer = _study(["HierTS"], runs=400)
    one = alone.outcomes["HierTS"]
    np.testing.assert_array_equal(one.curve, company.outcomes["HierTS"].curve)
    np.testing.assert_array_equal(one.per_task, company.outcomes["HierTS"].per_task)
    np.testing.assert_array_equal(one.total[:400], fewer.outcomes["HierTS"].total)
    other = _study(["HierTS"], seed=6)
    assert not np.array_equal(other.outcomes["HierTS"].total, one.total)


def test_numbers_of_beliefs_that_refit_depend_neither_on_jobs_nor_on_later_runs():
    """A chunk has 20 rewards of each run before it ends."""
    name = "linear, arms per round, poisson family"
    whole = _study(["HierTS"], name=name).outcomes["HierTS"].curve
    shared = _study(["HierTS"], jobs=2, name=name).outcomes["HierTS"].curve
    fewer = _study(["HierTS"], runs=200, name=name).outcomes["HierTS"].curve
    np.testing.assert_array_equal(whole, shared)
    np.testing.assert_array_equal(whole[:200], fewer)


def test_policies_meet_the_same_worlds_and_the_same_luck():
    """Two that choose without chance and differ in name alone have the very same regret."""
    greedy = POLICIES["HierGreedy"]
    study = simulate(
        ENVIRONMENTS["linear, arms per round"],
        {"one": greedy, "other": Recipe(as_given, greedy.rule, "a twin"), "TS": POLICIES["TS"]},
        Concurrent(3),
        runs=30,
        num_interactions=20,
    )
    one, other, third = (study.outcomes[name].total for name in ("one", "other", "TS"))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)
    assert study.difference("one", "other") == (0.0, 0.0)


def test_knowing_more_is_less_regret():
    """OracleTS, HierTS and TS, each better than the next by several standard errors."""
    study = simulate(
        ENVIRONMENTS["linear, arms per task"],
        ["OracleTS", "HierTS", "TS"],
        Concurrent(2),
        runs=200,
        num_interactions=30,
    )
    for better, worse in (("OracleTS", "HierTS"), ("HierTS", "TS")):
        difference, error = study.difference(worse, better)
        assert difference > 4 * error


def test_progress_counts_the_runs_of_all_policies():
    calls = []
    simulate(
        ENVIRONMENTS["armed"], ["TS", "HierTS"], Federated(), runs=250, num_interactions=1,
        progress=lambda done, total: calls.append((done, total)),
    )  # fmt: skip
    assert calls == [(200, 500), (250, 500), (450, 500), (500, 500)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": ["nope"]}, "policies must be names among HierTS.*got .'nope'"),
        ({"policies": []}, "policies must be names"),
        ({"policies": {}}, "policies must be names"),
        ({"policies": "HierTS"}, "policies must be names"),
        ({"policies": {"a": "HierTS"}}, "a mapping from name to Recipe"),
        ({"schedule": "federated"}, "schedule must be a schedule, .*got 'federated'"),
        ({"schedule": Concurrent(2.5)}, "size must be a whole number"),
        ({"points": 0}, "points must be a whole number of at least 1"),
        ({"snapshot_every": -1}, "snapshot_every must be a whole number"),
        ({"runs": 0}, "runs must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"num_interactions": 0}, "num_interactions must be"),
    ],
)
def test_bad_studies_are_named(changes, message):
    arguments = {"policies": ["TS"], "schedule": Federated(), "runs": 2, "num_interactions": 2}
    with pytest.raises(ValueError, match=message):
        simulate(ENVIRONMENTS["armed"], **(arguments | changes))


def test_chunks_of_different_lengths_are_refused():
    def as_many_rounds_as_runs(rng, history):
        return None if history.rounds == history.runs else np.zeros((history.runs, 1), int)

    schedule = Custom(as_many_rounds_as_runs)
    with pytest.raises(ValueError, match="the same number of rounds in every run"):
        simulate(ENVIRONMENTS["armed"], ["TS"], schedule, runs=203, num_interactions=1)


class Given:
    """A schedule of one's own that yields what it was told to."""

    def __init__(self, tasks, spoil=lambda history: None):
        self.tasks, self.spoil = tasks, spoil

    def rounds(self, rng, history):
        for tasks in self.tasks:
            self.spoil(history)
            yield tasks


@pytest.mark.parametrize(
    "wrong",
    [
        [[5], [0]],  # there are five tasks, from 0 on
        [[10**9], [0]],
        [[-2], [0]],
        [[0]],  # two runs
        [[0], [0], [0]],
        [0, 0],
        [[0.0], [0.0]],
        np.empty((2, 0), int),
    ],
)
def test_a_schedule_of_ones_own_names_tasks_that_are_there(wrong):
    right = np.zeros((2, 1), int)
    for schedule in (Given([right, wrong]), Custom(lambda rng, history: wrong)):
        with pytest.raises(ValueError, match="schedule must give tasks below 5, or IDLE, of shape"):
            simulate(ENVIRONMENTS["armed"], ["HierTS"], schedule, runs=2)


def test_a_schedule_cannot_change_what_is_counted():
    def replace(history):
        history.counts = history.rewards = np.zeros((1, 1))
        history.rounds = -5

    rounds = [np.array([[0, 3], [4, 4]]), np.array([[1, IDLE], [2, 3]])]
    studies = [
        simulate(ENVIRONMENTS["armed"], ["HierTS"], Given(rounds, spoil), runs=2)
        for spoil in (lambda history: None, replace)
    ]
    curves = [study.outcomes["HierTS"].curve for study in studies]
    np.testing.assert_array_equal(*curves)

    def write(history):
        history.counts[0, 0] = 10**9

    with pytest.raises(ValueError, match="read-only"):
        simulate(ENVIRONMENTS["armed"], ["HierTS"], Given(rounds, write), runs=2)


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("wrong", [np.zeros(1), np.zeros((3, 1)), np.full(3, np.nan), ["a"] * 3])
def test_an_environment_of_ones_own_answers_for_every_event(monkeypatch, part, wrong):
    environment = ENVIRONMENTS["armed, means given"]
    play = KnownWorlds.play

    def answer(worlds, events, arms, choices):
        answers = list(play(worlds, events, arms, choices))
        answers[part] = wrong
        return answers

    monkeypatch.setattr(KnownWorlds, "play", answer)
    with pytest.raises(ValueError, match=f"{('rewards', 'regret')[part]} must"):
        simulate(environment, ["HierTS"], Given([np.zeros((3, 1), int)]), runs=3)
