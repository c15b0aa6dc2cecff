"""The simulator: paired, reproducible, resumable, and right about regret."""

import numpy as np
import pytest
from support.oracle import random_cov

from hierbandits import POLICIES, GaussianHierarchy, simulate
from hierbandits.environments import ActionSets, HierarchicalBandit, KnownBandit
from hierbandits.keyed_random import Events, Stream
from hierbandits.models.variants import as_given
from hierbandits.policies.recipes import Recipe
from hierbandits.simulation.schedules import IDLE, SCHEDULES, Concurrent, Custom, Federated

LINEAR = GaussianHierarchy(
    hyper_mean=[0.2, -0.1],
    hyper_cov=[[1.0, 0.2], [0.2, 0.5]],
    task_cov=[[0.1, 0.03], [0.03, 0.2]],
    noise_std=0.5,
)
ARMED = GaussianHierarchy.armed(4, hyper_mean=0.5, hyper_std=0.3, task_std=0.1, noise_std=0.5)
DRAWN = {
    "linear, arms per run": HierarchicalBandit(
        hierarchy=LINEAR, num_tasks=5, actions=ActionSets(6)
    ),
    "linear, arms per task": HierarchicalBandit(
        hierarchy=LINEAR, num_tasks=5, actions=ActionSets(6, "ball", 1.0, "task")
    ),
    "linear, arms per round": HierarchicalBandit(
        hierarchy=LINEAR, num_tasks=5, actions=ActionSets(6, "ball", 1.0, "round")
    ),
    "linear, box per round, bernoulli": HierarchicalBandit(
        hierarchy=LINEAR, num_tasks=5, actions=ActionSets(6, per="round"), rewards="bernoulli"
    ),
    "armed": HierarchicalBandit(hierarchy=ARMED, num_tasks=5),
    "armed, bernoulli, mu given": HierarchicalBandit(
        hierarchy=ARMED, num_tasks=5, rewards="bernoulli", hyper=np.array([0.2, 0.4, 0.6, 0.8])
    ),
}
GIVEN = KnownBandit(
    means=np.random.default_rng(3).uniform(size=(5, 4)), prior=ARMED, rewards="bernoulli"
)
ENVIRONMENTS = DRAWN | {"armed, means given": GIVEN}


def _events(rng, runs, m, size=40, first=0):
    return Events(
        first + rng.integers(0, runs, size), rng.integers(0, m, size), rng.integers(0, 9, size)
    )


@pytest.mark.parametrize("name", DRAWN)
def test_worlds_own_the_truth_and_the_regret(name):
    """Regret and mean rewards, recomputed arm by arm from the drawn parameters."""
    environment = ENVIRONMENTS[name]
    worlds = environment.worlds(np.random.default_rng(0), 7, 100, 3)
    rng = np.random.default_rng(1)
    events = _events(rng, 3, 5, first=100)
    arms = worlds.offer(events)
    choices = (rng.random(40) * arms.sizes).astype(int)
    rewards, regret = worlds.play(events, arms, choices)
    for e in range(40):
        theta = worlds.theta[events.run[e] - 100, events.task[e]]
        rows = arms.table[arms.rows_of(e)]
        values = theta[rows] if environment.hierarchy.is_armed else rows @ theta
        if environment.rewards == "bernoulli":
            values = np.clip(values, 0, 1)
            assert rewards[e] in (0.0, 1.0)
        assert regret[e] == pytest.approx(values.max() - values[choices[e]], abs=1e-12)
    again = worlds.offer(events)
    np.testing.assert_array_equal(again.table[again.flat_rows()], arms.table[arms.flat_rows()])
    np.testing.assert_array_equal(worlds.play(events, arms, choices)[0], rewards)


@pytest.mark.parametrize("name", DRAWN)
def test_rewards_have_their_mean(name):
    environment = ENVIRONMENTS[name]
    worlds = environment.worlds(np.random.default_rng(0), 7, 0, 1)
    n = 20_000
    events = Events(np.zeros(n, int), np.full(n, 2), np.arange(n))
    arms = worlds.offer(events)
    rewards, regret = worlds.play(events, arms, np.ones(n, int))
    best = arms.values(np.tile(worlds.theta[0, 2], (n, 1))).reshape(n, -1).max(axis=1)
    if environment.rewards == "bernoulli":
        best = np.clip(best, 0, 1)
    errors = rewards - (best - regret)
    assert abs(errors.mean()) < 6 * errors.std() / np.sqrt(n)
    assert errors.std() > 0.2
    if environment.rewards == "gaussian":
        assert errors.std() == pytest.approx(environment.hierarchy.noise_std, rel=0.03)


def test_truth_is_drawn_from_the_hierarchy():
    environment = ENVIRONMENTS["linear, arms per run"]
    worlds = environment.worlds(np.random.default_rng(0), 0, 0, 20_000)
    error = 6 / np.sqrt(20_000)
    np.testing.assert_allclose(worlds.truth.mean(axis=0), LINEAR.hyper_mean, atol=error)
    np.testing.assert_allclose(np.cov(worlds.truth.T), LINEAR.hyper_cov, atol=2 * error)
    offsets = (worlds.theta - worlds.truth[:, None])[:, 0]
    np.testing.assert_allclose(np.cov(offsets.T), LINEAR.task_cov, atol=error)
    given = ENVIRONMENTS["armed, bernoulli, mu given"].worlds(np.random.default_rng(0), 0, 0, 3)
    np.testing.assert_array_equal(given.truth, [[0.2, 0.4, 0.6, 0.8]] * 3)


def test_action_sets_fill_their_shape():
    box = ActionSets(50, "box", 0.5).drawn(np.random.default_rng(0), 40, 1, 3)
    assert box.shape == (40, 50, 3)
    assert 0.49 < np.abs(box).max() <= 0.5
    ball = ActionSets(50, "ball", 2.0).drawn(np.random.default_rng(0), 40, 1, 3)
    norms = np.linalg.norm(ball, axis=2)
    assert 1.9 < norms.max() <= 2.0
    assert (norms < 1.0).mean() == pytest.approx(1 / 8, abs=0.04)  # uniform in the volume
    events = Events(np.arange(20_000), np.zeros(20_000, int), np.zeros(20_000, int))
    fresh = ActionSets(2, "ball", 2.0, "round").fresh(Stream(0, "x"), events, 3).table
    assert np.linalg.norm(fresh, axis=1).max() <= 2.0
    exact = 4 / 5 * np.eye(3)  # of the uniform law in a ball of radius 2 in three dimensions
    np.testing.assert_allclose(np.cov(fresh.T), exact, atol=6 / np.sqrt(len(fresh)))
    pairs = fresh.reshape(-1, 6)
    np.testing.assert_allclose(np.cov(pairs.T)[:3, 3:], 0.0, atol=6 / np.sqrt(len(pairs)))
    radii, cosines = np.linalg.norm(fresh, axis=1), np.abs(fresh[:, 0])
    cosines = cosines / radii
    assert abs(np.corrcoef(radii, cosines)[0, 1]) < 6 / np.sqrt(len(fresh))
    assert ActionSets(5, "box", 0.5).max_norm(4) == 1.0
    assert ActionSets(5, "ball", 2.0).max_norm(4) == 2.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_tasks": 0}, "num_tasks must be a whole number of at least 1"),
        ({"actions": None}, "actions must be given for linear"),
        ({"hierarchy": ARMED}, "actions must be given for linear hierarchies and for them alone"),
        ({"rewards": "poisson"}, "rewards must be gaussian or bernoulli, got 'poisson'"),
        ({"hyper": [1.0]}, "hyper must have shape"),
        ({"believed": ARMED}, "believed must have the form"),
    ],
)
def test_bad_environments_are_named(changes, message):
    parts = {"hierarchy": LINEAR, "num_tasks": 3, "actions": ActionSets()}
    with pytest.raises(ValueError, match=message):
        HierarchicalBandit(**(parts | changes))
    with pytest.raises(ValueError, match="shape must be one of box, ball, got 'cube'"):
        ActionSets(shape="cube")
    with pytest.raises(ValueError, match="num_arms must be a whole number of at least 1, got 0"):
        ActionSets(0)
    with pytest.raises(ValueError, match="size must be positive"):
        ActionSets(3, size=0.0)


# Studies


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_runs_in_every_environment(name, policy):
    study = simulate(ENVIRONMENTS[name], [policy], Concurrent(2), runs=3, num_interactions=4)
    outcome = study.outcomes[policy]
    assert study.runs == 3
    assert study.rounds.tolist() == list(range(1, 11))
    assert outcome.curve.shape == (3, 10)
    assert (np.diff(outcome.curve, axis=1) >= -1e-12).all()
    np.testing.assert_allclose(outcome.curve[:, -1], outcome.total)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_runs(schedule):
    study = simulate(
        ENVIRONMENTS["armed"], ["HierTS"], SCHEDULES[schedule], runs=3, num_interactions=4
    )
    assert study.outcomes["HierTS"].total.shape == (3,)


def _study(policies, jobs=1, runs=430, **options):
    return simulate(
        ENVIRONMENTS["linear, arms per round"],
        policies,
        Concurrent(3),
        runs=runs,
        seed=5,
        num_interactions=6,
        jobs=jobs,
        **options,
    )


def test_numbers_depend_neither_on_jobs_nor_on_company_nor_on_later_runs():
    alone = _study(["HierTS"])
    company = _study(["TS", "HierTS", "HierUCB"], jobs=2)
    fewer = _study(["HierTS"], runs=400)
    one = alone.outcomes["HierTS"]
    np.testing.assert_array_equal(one.curve, company.outcomes["HierTS"].curve)
    np.testing.assert_array_equal(one.per_task, company.outcomes["HierTS"].per_task)
    np.testing.assert_array_equal(one.total[:400], fewer.outcomes["HierTS"].total)
    other = simulate(
        ENVIRONMENTS["linear, arms per round"],
        ["HierTS"],
        Concurrent(3),
        runs=430,
        seed=6,
        num_interactions=6,
    )
    assert not np.array_equal(other.outcomes["HierTS"].total, one.total)


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


def test_an_interrupted_study_resumes_from_its_finished_chunks(tmp_path):
    done = []
    whole = _study(["HierTS", "TS"])

    def stop_after_three(runs, total):
        assert total == 2 * whole.runs
        done.append(runs)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _study(["HierTS", "TS"], checkpoint=tmp_path, progress=stop_after_three)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 3
    stamps = [path.stat().st_mtime_ns for path in kept]
    kept[0].write_bytes(kept[0].read_bytes()[:100])  # and one was damaged
    resumed = _study(["HierTS", "TS"], checkpoint=tmp_path)
    assert [path.stat().st_mtime_ns for path in kept[1:]] == stamps[1:]
    assert len(list(tmp_path.iterdir())) == 6
    for name in ("HierTS", "TS"):
        np.testing.assert_array_equal(resumed.outcomes[name].curve, whole.outcomes[name].curve)


def test_a_checkpoint_of_other_settings_is_not_used(tmp_path):
    _study(["HierTS"], runs=50, checkpoint=tmp_path)
    changed = simulate(
        ENVIRONMENTS["armed"],
        ["HierTS"],
        Concurrent(3),
        runs=50,
        seed=5,
        num_interactions=6,
        checkpoint=tmp_path,
    )
    fresh = simulate(
        ENVIRONMENTS["armed"], ["HierTS"], Concurrent(3), runs=50, seed=5, num_interactions=6
    )
    np.testing.assert_array_equal(changed.outcomes["HierTS"].total, fresh.outcomes["HierTS"].total)


def test_curves_are_thinned_and_end_at_the_end():
    study = simulate(
        ENVIRONMENTS["armed"], ["TS"], Concurrent(1), runs=2, num_interactions=37, points=10
    )
    assert study.rounds.size <= 21
    assert study.rounds[-1] == 5 * 37
    steps = np.diff(study.rounds)
    assert len(set(steps[:-1])) == 1
    mean, error = study.band("TS")
    assert mean.shape == error.shape == study.rounds.shape


def test_the_sum_of_posterior_variances():
    """V(m, n) recomputed by a policy stepped by hand, in all tasks and in the explored ones."""
    rng = np.random.default_rng(0)
    prior = GaussianHierarchy(
        hyper_mean=np.zeros(2),
        hyper_cov=random_cov(rng, 2),
        task_cov=random_cov(rng, 2, 0.3),
        noise_std=0.5,
    )
    environment = HierarchicalBandit(hierarchy=prior, num_tasks=3, actions=ActionSets(5))
    study = simulate(
        environment, ["HierTS-forced"], Federated(), runs=4, num_interactions=9, variance=True
    )
    outcome = study.outcomes["HierTS-forced"]
    from zlib import crc32

    worlds = environment.worlds(np.random.default_rng([0, 0, 0]), 0, 0, 4)
    policy = POLICIES["HierTS-forced"](prior, 3, 4)
    choose = np.random.default_rng([0, 0, 1, crc32(b"HierTS-forced")])
    run, task = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
    total, explored = np.zeros(4), np.zeros(4)
    for t in range(9):
        events = Events(run, task, np.full(12, t))
        arms = worlds.offer(events)
        choices = policy.act(choose, run * 3 + task, arms)
        x = arms.features(choices)
        for e in range(12):
            var = x[e] @ policy.belief.task(run[e] * 3 + task[e]).cov @ x[e]
            total[run[e]] += var
            explored[run[e]] += var * (t >= 2)  # after the forced start of d arms
        policy.learn(run * 3 + task, x, worlds.play(events, arms, choices)[0])
    np.testing.assert_allclose(outcome.variance, total, rtol=1e-9)
    np.testing.assert_allclose(outcome.explored, explored, rtol=1e-9)
    armed = simulate(
        ENVIRONMENTS["armed"], ["HierTS-forced"], Federated(), runs=2, num_interactions=6,
        variance=True,
    ).outcomes["HierTS-forced"]  # fmt: skip
    assert (armed.explored < armed.variance).all()
    assert (armed.explored > 0).all()


def test_snapshots_of_the_hyper_posterior():
    study = simulate(
        ENVIRONMENTS["armed"],
        ["HierTS", "PooledTS"],
        Federated(),
        runs=120,
        num_interactions=30,
        snapshot_every=10,
    )
    for name in ("HierTS", "PooledTS"):
        assert study.outcomes[name].snapshots.shape == (120, 3, 4)
    worlds = ENVIRONMENTS["armed"].worlds(np.random.default_rng([0, 0, 0]), 0, 0, 120)
    errors = study.outcomes["HierTS"].snapshots - worlds.truth[:, None]
    sizes = np.abs(errors).mean(axis=(0, 2))
    assert sizes[2] < sizes[0] < 0.24  # 0.24 is the mean error of the prior mean


def test_frames_and_summaries(tmp_path):
    study = _study(["HierTS", "TS"], runs=20)
    frame = study.frame()
    assert frame.columns == ["policy", "run", "round", "regret"]
    assert frame.height == 2 * 20 * study.rounds.size
    last = frame.filter((frame["policy"] == "TS") & (frame["round"] == study.rounds[-1]))
    np.testing.assert_allclose(last["regret"].to_numpy(), study.outcomes["TS"].total)
    assert study.task_frame().height == 2 * 20 * 5
    study.to_parquet(tmp_path / "study.parquet")
    import polars as pl

    assert pl.read_parquet(tmp_path / "study.parquet").equals(frame)
    rows = {row["policy"]: row for row in study.summary("HierTS")}
    totals = study.outcomes["TS"].total
    with pytest.raises(ValueError, match="baseline must be one of HierTS, TS, got 'typo'"):
        study.summary("typo")
    assert _study(["TS"], runs=1).mean("TS")[1] == 0.0  # one run tells no error
    assert rows["TS"]["mean"] == pytest.approx(totals.mean())
    assert rows["TS"]["standard_error"] == pytest.approx(totals.std(ddof=1) / np.sqrt(20))
    gaps = totals - study.outcomes["HierTS"].total
    assert rows["TS"]["difference_error"] == pytest.approx(gaps.std(ddof=1) / np.sqrt(20))


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


def test_a_custom_schedule_drives_a_study_with_idle_runs():
    def even_runs_twice(rng, history):
        if history.rounds == 5:
            return None
        tasks = np.zeros((history.runs, 2), int)
        tasks[1::2, 1] = IDLE
        return tasks

    study = simulate(ENVIRONMENTS["armed"], ["TS"], Custom(even_runs_twice), runs=4)
    per_task = study.outcomes["TS"].per_task
    assert (per_task[:, 1:] == 0).all()
    assert study.rounds[-1] == 5


@pytest.mark.parametrize("rewards", ["gaussian", "bernoulli"])
def test_tasks_that_are_given_have_their_means(rewards):
    means = np.array([[0.2, 0.9, 0.5], [0.7, 0.1, 0.3]])
    prior = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=0.4)
    worlds = KnownBandit(means=means, prior=prior, rewards=rewards).worlds(
        np.random.default_rng(0), 5, 100, 20_000
    )
    np.testing.assert_allclose(worlds.truth, np.tile(means.mean(axis=0), (20_000, 1)))
    run, zeros = 100 + np.arange(20_000), np.zeros(20_000, int)
    for task in range(2):
        events = Events(run, zeros + task, zeros)
        for arm in range(3):
            played, regret = worlds.play(events, worlds.offer(events), zeros + arm)
            np.testing.assert_allclose(regret, means[task].max() - means[task, arm])
            mean = means[task, arm]
            spread = 0.4 if rewards == "gaussian" else np.sqrt(mean * (1 - mean))
            assert abs(played.mean() - mean) < 5 * spread / np.sqrt(20_000)
            np.testing.assert_allclose(played.std(), spread, rtol=0.03)


def test_tasks_that_are_given_are_checked():
    prior = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=0.4)
    for means, rewards, message in (
        (np.ones((2, 4)), "gaussian", "an arm for each column of means"),
        (np.empty((0, 3)), "gaussian", "an arm for each column of means"),
        (np.full((2, 3), np.nan), "gaussian", "means must be finite"),
        (np.full((2, 3), 1.5), "bernoulli", "means must be in"),
        (np.ones((2, 3)), "poisson", "rewards must be gaussian or bernoulli"),
    ):
        with pytest.raises(ValueError, match=message):
            KnownBandit(means=means, prior=prior, rewards=rewards)
