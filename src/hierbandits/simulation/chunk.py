"""One chunk of a study: one policy in some of the runs, which step together; and its seeds."""

import time
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import ArrayLike

from hierbandits.checks import read_only, state_array
from hierbandits.environments.environment import Environment
from hierbandits.environments.events import Events
from hierbandits.kernels.tally import add_up, unroll
from hierbandits.keyed_random import seed_words
from hierbandits.policies.recipes import Recipe
from hierbandits.simulation.regret_curve import RegretCurve
from hierbandits.simulation.schedules import History, Schedule, checked_round
from hierbandits.simulation.study import Outcome
from hierbandits.simulation.variance_sum import VarianceSum
from hierbandits.types import Indices, Matrix, Vector

CHUNK_RUNS = 200
"""The runs of a chunk.  Results depend on this number, so it is fixed for any number of jobs."""


@dataclass(frozen=True, slots=True)
class ChunkSeeds:
    """The random generators of a chunk, one for each purpose, and their seeds.

    The worlds and the schedule do not depend on the policy, so that all policies of a study meet
    the same ones.  The luck in rewards is not drawn here: environments key it by the event.
    """

    seed: int  # of the study
    first_run: int  # of the chunk

    def worlds(self) -> Generator:
        """The generator with which the environment draws the truth of the runs."""
        return default_rng(seed_words(self.seed, self.first_run, 0))

    def choices(self, policy: str) -> Generator:
        """The generator with which the policy of this name chooses."""
        return default_rng(seed_words(self.seed, self.first_run, 1, crc32(policy.encode())))

    def schedule(self) -> Generator:
        """The generator with which the schedule draws its rounds."""
        return default_rng(seed_words(self.seed, self.first_run, 2))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StudySettings:
    """What all chunks of a study have in common."""

    environment: Environment
    schedule: Schedule
    seed: int
    num_interactions: int
    points: int  # of the regret curve; see `RegretCurve`
    variance: bool  # whether V(m, n) is kept
    snapshot_every: int  # rounds from one snapshot of the hyper-posterior to the next; 0: none


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """A policy in the runs first_run, first_run + 1, ... of a study, `runs` of them."""

    settings: StudySettings
    policy: str  # its name
    recipe: Recipe
    first_run: int
    runs: int


def simulate_chunk(chunk: Chunk) -> tuple[Indices, Outcome]:
    """Simulate a chunk: the rounds at which its curves are kept, (points,), and its outcome."""
    start = time.perf_counter()
    settings, runs, m = chunk.settings, chunk.runs, chunk.settings.environment.num_tasks
    environment, seeds = settings.environment, ChunkSeeds(settings.seed, chunk.first_run)
    worlds = environment.worlds(seeds.worlds(), settings.seed, chunk.first_run, runs)
    policy = chunk.recipe(environment.prior, m, runs, truth=worlds.truth)
    rng = seeds.choices(chunk.policy)
    history = History(runs, m, settings.num_interactions)
    counts, rewarded = history.counts, history.rewards
    history.counts, history.rewards = read_only(counts), read_only(rewarded)
    per_task, total, earned = np.zeros((runs, m)), np.zeros(runs), np.zeros(runs)
    curve = RegretCurve(settings.points)
    variances = VarianceSum(runs, m) if settings.variance else None
    snapshots: list[Matrix] = []
    rounds = settings.schedule.rounds(seeds.schedule(), history)
    for number, tasks in enumerate(rounds, start=1):
        run, task, interaction = _unrolled(checked_round(tasks, runs, m), counts)
        events = Events(chunk.first_run + run, task, interaction, number - 1)
        arms = worlds.offer(events)
        nodes = run * m + task
        choices = policy.act(rng, nodes, arms)
        features = arms.features(choices)
        if variances is not None:
            variances.add(run, task, arms, features, policy.predict(nodes, features))
        rewards, regret = worlds.play(events, arms, choices)
        policy.learn(nodes, features, rewards)
        add_up(run, task, _of_events("regret", regret, run), per_task, total)
        add_up(run, task, _of_events("rewards", rewards, run), rewarded, earned)
        history.rounds = number
        curve.add(number, total)
        if settings.snapshot_every and number % settings.snapshot_every == 0:
            means, slots = policy.belief._raw_draws(None, policy.belief.roots)
            snapshots.append(means[slots])
    kept, cumulative = curve.finished(history.rounds, total)
    unknown = np.full(runs, np.nan)
    return kept, Outcome(
        curve=cumulative,
        per_task=per_task,
        variance=unknown if variances is None else variances.total,
        explored=unknown if variances is None else variances.explored,
        snapshots=_stacked(snapshots, runs, environment.prior.dim),
        seconds=time.perf_counter() - start,
    )


def _unrolled(tasks: Indices, counts: Indices) -> tuple[Indices, Indices, Indices]:
    """The run, the task and the interaction of each event of a round, (E,) each.

    The interactions are counted in `counts`, (runs, tasks).
    """
    run, task, interaction = np.empty((3, tasks.size), np.intp)
    size = unroll(tasks, counts, run, task, interaction)
    return run[:size], task[:size], interaction[:size]


def _of_events(name: str, values: ArrayLike, run: Indices) -> Vector:
    """What an environment says of each event of a round."""
    return state_array(name, values, run.shape)


def _stacked(snapshots: list[Matrix], runs: int, dim: int) -> Matrix:
    """Snapshots of all runs, (runs, d) each, as (runs, S, d)."""
    return np.stack(snapshots, axis=1) if snapshots else np.empty((runs, 0, dim))
