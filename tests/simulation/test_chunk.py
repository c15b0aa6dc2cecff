"""One chunk of runs: its random generators, its snapshots, and runs that pause."""

from zlib import crc32

import numpy as np
import pytest
from support.environments import ENVIRONMENTS
from support.plain_simulation import plain_simulation

from hierbandits import POLICIES, simulate
from hierbandits.simulation.chunk import Chunk, ChunkSeeds, StudySettings, simulate_chunk
from hierbandits.simulation.schedules import IDLE, Custom, Federated


def test_each_purpose_has_a_generator_of_its_own():
    """The seeds are written out: every published number depends on them."""
    seeds = ChunkSeeds(seed=7, first_run=200)
    streams = {
        "worlds": (seeds.worlds(), [7, 200, 0]),
        "choices of TS": (seeds.choices("TS"), [7, 200, 1, crc32(b"TS")]),
        "schedule": (seeds.schedule(), [7, 200, 2]),
    }
    for rng, seed in streams.values():
        np.testing.assert_array_equal(rng.random(5), np.random.default_rng(seed).random(5))
    first = [
        ChunkSeeds(seed, run).choices(policy).random()
        for seed, run, policy in [
            (7, 200, "TS"),
            (8, 200, "TS"),
            (7, 400, "TS"),
            (7, 200, "HierTS"),
        ]
    ]
    assert len(set(first)) == 4


def _chunk(first_run, runs, **changes):
    settings = {
        "environment": ENVIRONMENTS["armed"],
        "schedule": Federated(),
        "seed": 3,
        "num_interactions": 5,
        "points": 200,
        "variance": False,
        "snapshot_every": 0,
    }
    return Chunk(StudySettings(**settings | changes), "TS", POLICIES["TS"], first_run, runs)


def test_a_study_is_its_chunks_in_order():
    study = simulate(
        ENVIRONMENTS["armed"], ["TS"], Federated(), runs=230, seed=3, num_interactions=5
    )
    parts = [simulate_chunk(_chunk(first, runs))[1] for first, runs in ((0, 200), (200, 30))]
    joined = np.concatenate([part.per_task for part in parts])
    np.testing.assert_array_equal(study.outcomes["TS"].per_task, joined)
    rounds, outcome = simulate_chunk(_chunk(200, 30))
    np.testing.assert_array_equal(rounds, np.arange(1, 6))
    assert np.isnan([outcome.variance, outcome.explored]).all()
    assert outcome.snapshots.shape == (30, 0, 4)
    assert outcome.seconds > 0


@pytest.mark.parametrize("name", ["HierTS", "PooledTS"])
def test_snapshots_of_the_hyper_posterior(name):
    """Every ten rounds the mean of the hyper-posterior, as a policy stepped by hand has it."""
    environment = ENVIRONMENTS["armed"]
    study = simulate(
        environment, [name], Federated(), runs=6, num_interactions=30, snapshot_every=10
    )
    plain = plain_simulation(environment, name, Federated(), runs=6, num_interactions=30)
    np.testing.assert_allclose(
        study.outcomes[name].snapshots, plain.hyper_means[:, [9, 19, 29]], rtol=1e-9
    )


def test_the_hyper_posterior_comes_closer_to_the_truth():
    environment = ENVIRONMENTS["armed"]
    study = simulate(
        environment, ["HierTS"], Federated(), runs=120, num_interactions=30, snapshot_every=10
    )
    worlds = environment.worlds(np.random.default_rng([0, 0, 0]), 0, 0, 120)
    errors = study.outcomes["HierTS"].snapshots - worlds.truth[:, None]
    sizes = np.abs(errors).mean(axis=(0, 2))
    assert sizes[2] < sizes[0] < 0.24  # 0.24 is the mean error of the prior mean


def test_a_custom_schedule_drives_a_study_with_idle_runs():
    """Even runs act twice in a round and odd ones once, as in plain loops."""

    def even_runs_twice(rng, history):
        if history.rounds == 5:
            return None
        tasks = np.zeros((history.runs, 2), int)
        tasks[1::2, 1] = IDLE
        return tasks

    environment, schedule = ENVIRONMENTS["armed"], Custom(even_runs_twice)
    study = simulate(environment, ["TS"], schedule, runs=4, num_interactions=10)
    plain = plain_simulation(environment, "TS", schedule, runs=4, num_interactions=10)
    per_task = study.outcomes["TS"].per_task
    assert (per_task[:, 1:] == 0).all()
    assert study.rounds[-1] == 5
    np.testing.assert_allclose(per_task, plain.per_task, rtol=1e-9, atol=1e-12)


def test_a_schedule_sees_counts_and_rewards_up_to_date():
    seen = []

    def watch(rng, history):
        seen.append((history.rounds, history.counts.copy(), history.rewards.copy()))
        return None if history.rounds == 3 else np.zeros((history.runs, 1), int)

    simulate_chunk(_chunk(0, 2, schedule=Custom(watch)))
    assert [rounds for rounds, _, _ in seen] == [0, 1, 2, 3]
    assert [counts[:, 0].tolist() for _, counts, _ in seen] == [[0, 0], [1, 1], [2, 2], [3, 3]]
    rewards = np.array([rewards for _, _, rewards in seen])
    assert (rewards[:, :, 1:] == 0).all()
    assert (np.diff(rewards[:, :, 0], axis=0) != 0).all()
