"""Policies in worlds: all runs of a chunk step together, chunks spread over processes."""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import default_rng

from hierbandits.checks import count
from hierbandits.environments.environment import Environment
from hierbandits.kernels.tally import add_up, unroll
from hierbandits.keyed_random import Events
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.simulation.checkpoint import Checkpoint
from hierbandits.simulation.regret_curve import Curve
from hierbandits.simulation.schedules import Federated, History, Schedule
from hierbandits.simulation.study import Outcome, Study
from hierbandits.simulation.variance_sum import Variance
from hierbandits.types import Indices, Matrix

CHUNK = 200
"""Runs stepped together.  Results depend on it, so it is fixed, whatever the number of jobs."""


def simulate(
    environment: Environment,
    policies: Sequence[str] | Mapping[str, Recipe],
    schedule: Schedule,
    runs: int = 1000,
    seed: int = 0,
    *,
    num_interactions: int = 200,
    jobs: int = 1,
    points: int = 200,
    variance: bool = False,
    snapshot_every: int = 0,
    checkpoint: str | Path | None = None,
    progress: Progress = None,
) -> Study:
    """The regret of policies in the same worlds, the same for any number of jobs.

    Each chunk of runs and each policy has a random stream of its own, and the luck in rewards is
    keyed by (run, task, interaction), so a policy's numbers do not depend on its company.  With
    `variance`, V(m, n) is kept too; with `snapshot_every`, the hyper-posterior's mean every
    so many rounds.  With a `checkpoint` folder, finished chunks are kept there and an interrupted
    study resumes.  `progress` shows a bar (None: on a terminal), or is a function that is told
    (runs finished, all runs), summed over policies.
    """
    runs, seed = count("runs", runs, least=1), count("seed", seed)
    settings = (
        count("num_interactions", num_interactions, least=1),
        count("points", points, least=1),
        variance,
        count("snapshot_every", snapshot_every),
    )
    if not hasattr(schedule, "rounds"):
        raise ValueError(f"schedule must be a schedule, Federated() say, got {schedule!r:.80}")
    recipes = _recipes(policies)
    store = Checkpoint(checkpoint, (environment, schedule, seed, settings))
    starts = range(0, runs, CHUNK)
    parts: dict[tuple[str, int], tuple[Indices, Outcome]] = {}
    waiting: list[Any] = []
    with progress_bar("Simulating", runs * len(recipes), progress) as steps:
        for name, recipe in recipes.items():
            for first in starts:
                size = min(CHUNK, runs - first)
                kept = store.read(name, recipe, first, size)
                if kept is None:
                    common = (environment, schedule, seed, settings)
                    waiting.append((*common, name, recipe, first, size))
                else:
                    parts[name, first] = kept
                    steps.advance(size)
        for name, first, rounds, outcome in _spread(jobs, waiting):
            parts[name, first] = rounds, outcome
            store.write(name, recipes[name], first, rounds, outcome)
            steps.advance(len(outcome.total))
    rounds = next(iter(parts.values()))[0]
    if any(not np.array_equal(other, rounds) for other, _ in parts.values()):
        raise ValueError("schedule must have the same number of rounds in every run")
    joined = {name: Outcome.joined([parts[name, f][1] for f in starts]) for name in recipes}
    return Study(rounds, joined)


def _chunk(
    environment: Environment,
    schedule: Schedule,
    seed: int,
    settings: tuple[int, int, bool, int],
    name: str,
    recipe: Recipe,
    first: int,
    runs: int,
) -> tuple[str, int, Indices, Outcome]:
    """One policy in one chunk of runs."""
    num_interactions, points, variance, snapshot_every = settings
    start = time.perf_counter()
    m = environment.num_tasks
    worlds = environment.worlds(default_rng([seed, first, 0]), seed, first, runs)
    policy = recipe(environment.prior, m, runs, truth=worlds.truth)
    rng = default_rng([seed, first, 1, crc32(name.encode())])
    history = History(runs, m, num_interactions)
    per_task, total, earned = np.zeros((runs, m)), np.zeros(runs), np.zeros(runs)
    curve = Curve(points)
    shots: list[Matrix] = []
    spread = Variance(runs, m) if variance else None
    for tasks in schedule.rounds(default_rng([seed, first, 2]), history):
        run, task, interaction = np.empty((3, tasks.size), np.intp)
        used = unroll(np.asarray(tasks, np.intp), history.counts, run, task, interaction)
        if used < tasks.size:
            run, task, interaction = run[:used], task[:used], interaction[:used]
        events = Events(first + run, task, interaction)
        arms = worlds.offer(events)
        nodes = run * m + task
        choices = policy.act(rng, nodes, arms)
        features = arms.features(choices)
        if spread is not None:
            spread.add(run, task, arms, features, policy.predict(nodes, features))
        rewards, regret = worlds.play(events, arms, choices)
        policy.learn(nodes, features, rewards)
        add_up(run, task, regret, per_task, total)
        add_up(run, task, rewards, history.rewards, earned)
        history.rounds += 1
        curve.add(history.rounds, total)
        if snapshot_every and history.rounds % snapshot_every == 0:
            means, slots = policy.belief.draws(None, policy.belief.roots)
            shots.append(means[slots])
    rounds, cumulative = curve.finished(history.rounds, total)
    outcome = Outcome(
        cumulative,
        per_task,
        np.full(runs, np.nan) if spread is None else spread.total,
        np.full(runs, np.nan) if spread is None else spread.explored,
        np.stack(shots, axis=1) if shots else np.empty((runs, 0, environment.prior.dim)),
        time.perf_counter() - start,
    )
    return name, first, rounds, outcome


def _recipes(policies: Sequence[str] | Mapping[str, Recipe]) -> dict[str, Recipe]:
    if isinstance(policies, Mapping):
        sound = all(isinstance(recipe, Recipe) for recipe in policies.values())
        chosen = dict(policies)
    else:
        sound = not isinstance(policies, str) and all(name in POLICIES for name in policies)
        chosen = {name: POLICIES[name] for name in policies} if sound else {}
    if not sound or not chosen:
        raise ValueError(
            f"policies must be names among {', '.join(POLICIES)}, or a mapping from name to "
            f"Recipe, got {policies!r:.80}"
        )
    return chosen


def _spread(jobs: int, waiting: list[Any]) -> Iterable[tuple[str, int, Indices, Outcome]]:
    """The chunks' results as they are finished, from this process or from several."""
    if jobs == 1 or len(waiting) < 2:
        return (_chunk(*arguments) for arguments in waiting)
    from joblib import Parallel, delayed

    for environment, _, seed, _, name, recipe, _, _ in {job[4]: job for job in waiting}.values():
        # Compiled here once and kept on disk, not in every process at the same time.
        _chunk(environment, Federated(), seed, (1, 1, False, 0), name, recipe, 0, 1)
    work = (delayed(_chunk)(*arguments) for arguments in waiting)
    finished: Iterable[Any] = Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    return finished
