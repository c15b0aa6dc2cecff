"""A study by plain loops over events, beside which the simulator is tested."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from hierbandits import POLICIES
from hierbandits.environments.events import Events
from hierbandits.simulation.schedules import IDLE, History
from support.environments import regret_of


@dataclass
class PlainStudy:
    """What one policy did in one chunk of runs, the first of its study."""

    per_task: np.ndarray  # total regret, (runs, tasks)
    curve: np.ndarray  # cumulative regret after each round, (runs, rounds)
    variance: np.ndarray  # V(m, n), (runs,)
    hyper_means: np.ndarray  # the mean of the hyper-posterior after each round, (runs, rounds, d)


def plain_simulation(environment, name, schedule, runs, num_interactions, seed=0):
    """The random generators are those of the chunk, written out again; the rest is by hand."""
    m, first_run = environment.num_tasks, 0
    worlds = environment.worlds(np.random.default_rng([seed, first_run, 0]), seed, first_run, runs)
    policy = POLICIES[name](environment.prior, m, runs, truth=worlds.truth)
    choosing = np.random.default_rng([seed, first_run, 1, crc32(name.encode())])
    history = History(runs, m, num_interactions)
    per_task, variance, curve, hyper_means = np.zeros((runs, m)), np.zeros(runs), [], []
    for tasks in schedule.rounds(np.random.default_rng([seed, first_run, 2]), history):
        acting = [(r, int(s)) for r in range(runs) for s in tasks[r] if s != IDLE]
        interactions = []
        for r, s in acting:
            interactions.append(history.counts[r, s])
            history.counts[r, s] += 1
        run, task = np.array(acting).T
        events, nodes = Events(run, task, np.array(interactions)), run * m + task
        arms = worlds.offer(events)
        choices = policy.act(choosing, nodes, arms)
        prediction = policy.predict(nodes, arms.features(choices))
        rewards, _ = worlds.play(events, arms, choices)
        policy.learn(nodes, arms.features(choices), rewards)
        for e, (r, s) in enumerate(acting):
            per_task[r, s] += regret_of(environment, worlds, events, arms, e, choices[e])
            variance[r] += prediction.within_var[e] + prediction.shared_var[e]
            history.rewards[r, s] += rewards[e]
        history.rounds += 1
        curve.append(per_task.sum(axis=1))
        hyper_means.append([policy.belief.hyper(r).mean for r in range(runs)])
    return PlainStudy(per_task, np.stack(curve, 1), variance, np.swapaxes(hyper_means, 0, 1))
