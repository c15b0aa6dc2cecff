"""Policies in worlds: all runs of a chunk step together, chunks spread over processes."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import default_rng

from hierbandits.arms import Arms
from hierbandits.arrays import Indices, Matrix, Vector, count
from hierbandits.checkpoint import Checkpoint
from hierbandits.environments.environment import Environment
from hierbandits.exploration import SpanningArms
from hierbandits.gaussian import Prediction
from hierbandits.kernels.tally import add_up, number_interactions
from hierbandits.keyed import Events
from hierbandits.policies import POLICIES, Recipe
from hierbandits.progress import progress_bar
from hierbandits.schedules import IDLE, History, Schedule
from hierbandits.study import Outcome, Study

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
    progress: bool | Callable[[int], object] | None = None,
) -> Study:
    """The regret of policies in the same worlds, the same for any number of jobs.

    Each chunk of runs and each policy has a random stream of its own, and the luck in rewards is
    keyed by (run, task, interaction), so a policy's numbers do not depend on its company.  With
    `variance`, V(m, n) is kept too; with `snapshot_every`, the hyper-posterior's mean every
    so many rounds.  With a `checkpoint` folder, finished chunks are kept there and an interrupted
    study resumes.  `progress` shows a bar (None: on a terminal), or is a function told of the
    runs finished, summed over policies.
    """
    runs, seed = count("runs", runs, least=1), count("seed", seed)
    settings = (
        count("num_interactions", num_interactions, least=1),
        points,
        variance,
        snapshot_every,
    )
    recipes = _recipes(policies)
    store = Checkpoint(checkpoint, (environment, schedule, seed, settings))
    starts = range(0, runs, CHUNK)
    parts: dict[tuple[str, int], tuple[Indices, Outcome]] = {}
    waiting: list[Any] = []
    if callable(progress):
        bar: AbstractContextManager[Callable[[int], object]] = nullcontext(progress)
    else:
        bar = progress_bar("Simulating", runs * len(recipes), progress)
    with bar as advance:
        for name, recipe in recipes.items():
            for first in starts:
                size = min(CHUNK, runs - first)
                kept = store.read(name, recipe, first, size)
                if kept is None:
                    common = (environment, schedule, seed, settings)
                    waiting.append((*common, name, recipe, first, size))
                else:
                    parts[name, first] = kept
                    advance(size)
        for name, first, rounds, outcome in _spread(jobs, waiting):
            parts[name, first] = rounds, outcome
            store.write(name, recipes[name], first, rounds, outcome)
            advance(len(outcome.total))
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
    per_task = np.zeros((runs, m))
    curve = _Curve(points)
    shots: list[Matrix] = []
    spread = _Variance(runs, m) if variance else None
    for tasks in schedule.rounds(default_rng([seed, first, 2]), history):
        run, place = np.nonzero(tasks != IDLE)
        task = np.ascontiguousarray(tasks[run, place], np.intp)
        interaction = np.empty(run.size, np.intp)
        number_interactions(run, task, history.counts, interaction)
        events = Events(first + run, task, interaction)
        arms = worlds.offer(events)
        nodes = run * m + task
        choices = policy.act(rng, nodes, arms)
        features = arms.features(choices)
        if spread is not None:
            spread.add(run, task, arms, features, policy.predict(nodes, features))
        rewards, regret = worlds.play(events, arms, choices)
        policy.learn(nodes, features, rewards)
        add_up(run, task, regret, per_task)
        add_up(run, task, rewards, history.rewards)
        history.rounds += 1
        curve.add(history.rounds, per_task)
        if snapshot_every and history.rounds % snapshot_every == 0:
            shots.append(policy.belief.forest.mean[policy.belief.roots])
    rounds, cumulative = curve.finished(history.rounds, per_task)
    outcome = Outcome(
        cumulative,
        per_task,
        np.full(runs, np.nan) if spread is None else spread.total,
        np.full(runs, np.nan) if spread is None else spread.explored,
        np.stack(shots, axis=1) if shots else np.empty((runs, 0, environment.prior.dim)),
        time.perf_counter() - start,
    )
    return name, first, rounds, outcome


class _Curve:
    """Cumulative regret at no more than twice `points` evenly spaced rounds, and at the last."""

    def __init__(self, points: int) -> None:
        self._points = points
        self._stride = 1
        self._rounds: list[int] = []
        self._values: list[Vector] = []

    def add(self, rounds: int, per_task: Matrix) -> None:
        if rounds % self._stride == 0:
            self._rounds.append(rounds)
            self._values.append(per_task.sum(axis=1))
        if len(self._rounds) == 2 * self._points:
            self._stride *= 2
            self._rounds, self._values = self._rounds[1::2], self._values[1::2]

    def finished(self, rounds: int, per_task: Matrix) -> tuple[Indices, Matrix]:
        """The rounds kept, (points,), and the values of every run, (runs, points)."""
        if not self._rounds or self._rounds[-1] != rounds:
            self._rounds.append(rounds)
            self._values.append(per_task.sum(axis=1))
        return np.array(self._rounds), np.stack(self._values, axis=1)


class _Variance:
    """V(m, n) of each run, in all tasks and in the sufficiently explored ones, C_t.

    A task is explored once lambda_min of the sum of its x x' has reached the eta of its arms,
    that of its first action set.  [HBB, proof of Theorem concurrent regret]
    """

    def __init__(self, runs: int, num_tasks: int) -> None:
        self.total = np.zeros(runs)
        self.explored = np.zeros(runs)
        self._grams: Matrix | None = None
        self._etas: dict[bytes, float] = {}
        self._done = np.zeros((runs, num_tasks), np.bool_)
        self._eta = np.full((runs, num_tasks), np.nan)

    def add(
        self, run: Indices, task: Indices, arms: Arms, features: Matrix | Indices, found: Prediction
    ) -> None:
        dim = arms.table.shape[1] if arms.table.ndim == 2 else int(arms.table.max()) + 1
        vectors = features if arms.table.ndim == 2 else np.eye(dim)[features]
        if self._grams is None:
            self._grams = np.zeros((*self._done.shape, dim, dim))
        for e in np.flatnonzero(np.isnan(self._eta[run, task])):
            self._eta[run[e], task[e]] = self._eta_of(arms, int(e), dim)
        self._check(run, task)
        var = found.within_var + found.shared_var
        self.total += np.bincount(run, var, self.total.size)
        seen = self._done[run, task]
        self.explored += np.bincount(run[seen], var[seen], self.total.size)
        np.add.at(self._grams, (run, task), vectors[:, :, None] * vectors[:, None, :])

    def _check(self, run: Indices, task: Indices) -> None:
        assert self._grams is not None
        young = ~self._done[run, task]
        run, task = run[young], task[young]
        least = np.linalg.eigvalsh(self._grams[run, task])[:, 0]
        self._done[run, task] = least >= self._eta[run, task] * (1 - 1e-9)

    def _eta_of(self, arms: Arms, event: int, dim: int) -> float:
        if arms.table.ndim == 1:
            return 1.0
        features = arms.table[arms.rows_of(event)]
        key = features.tobytes()
        if key not in self._etas:
            spanning = SpanningArms.of(features)
            self._etas[key] = spanning.eta if spanning.arms.size == dim else np.inf
        return self._etas[key]


def _recipes(policies: Sequence[str] | Mapping[str, Recipe]) -> dict[str, Recipe]:
    if isinstance(policies, Mapping):
        return dict(policies)
    unknown = [name for name in policies if name not in POLICIES]
    if unknown or not policies or isinstance(policies, str):
        known = ", ".join(POLICIES)
        raise ValueError(f"policies must be a list of names among {known}, got {policies!r}")
    return {name: POLICIES[name] for name in policies}


def _spread(jobs: int, waiting: list[Any]) -> Iterable[tuple[str, int, Indices, Outcome]]:
    """The chunks' results as they are finished, from this process or from several."""
    if jobs == 1 or len(waiting) < 2:
        return (_chunk(*arguments) for arguments in waiting)
    from joblib import Parallel, delayed

    work = (delayed(_chunk)(*arguments) for arguments in waiting)
    finished: Iterable[Any] = Parallel(n_jobs=jobs, return_as="generator_unordered")(work)
    return finished
