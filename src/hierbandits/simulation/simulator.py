"""Simulates studies: policies in the same worlds, chunk by chunk, in one process or several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hierbandits.checks import count
from hierbandits.environments.environment import Environment
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.reporting.progress import Progress, progress_bar
from hierbandits.simulation.checkpoint import Checkpoint
from hierbandits.simulation.chunk import CHUNK_RUNS, Chunk, StudySettings, simulate_chunk
from hierbandits.simulation.schedules import Federated, Schedule
from hierbandits.simulation.study import Outcome, Study
from hierbandits.types import Indices
from hierbandits.workers.backends import LOCAL, checked_backend, finished


def simulate(
    environment: Environment,
    policies: Sequence[str] | Mapping[str, Recipe],
    schedule: Schedule,
    runs: int = 1000,
    seed: int = 0,
    *,
    num_interactions: int = 200,
    jobs: int = 1,
    backend: str = LOCAL,
    points: int = 200,
    variance: bool = False,
    snapshot_every: int = 0,
    checkpoint: str | Path | None = None,
    progress: Progress = None,
) -> Study:
    """The regret of policies in the same worlds, the same for any number of jobs and any backend.

    Each chunk of runs and each policy has its own random generator, and the luck in rewards is
    keyed by (run, task, interaction).  So a policy's numbers do not depend on the other policies.
    With `variance`, V(m, n) is kept too; with `snapshot_every`, the mean of the hyper-posterior
    every so many rounds.  With a `checkpoint` folder, finished chunks are kept there, and an
    interrupted study resumes.  `progress` shows a bar (None: on a terminal), or is a function of
    the number of finished runs and of all runs, both summed over policies.

    Chunks run in `jobs` processes (-1: one for each core), or on the workers of a `backend`: "ray",
    "dask" or "spark".  The cluster is the one that this program is connected to, or one that starts
    on this machine.  A chunk whose worker is lost is simulated again.
    """
    runs, seed = count("runs", runs, least=1), count("seed", seed)
    checked_backend(backend, jobs)
    settings = StudySettings(
        environment=environment,
        schedule=_checked_schedule(schedule),
        seed=seed,
        num_interactions=count("num_interactions", num_interactions, least=1),
        points=count("points", points, least=1),
        variance=variance,
        snapshot_every=count("snapshot_every", snapshot_every),
    )
    recipes = _recipes(policies)
    for name, recipe in recipes.items():
        try:
            recipe.believe(environment.prior)
        except ValueError as error:
            raise ValueError(
                f"policies must suit the environment, got {name!r}: {error}"
            ) from error
    chunks = [
        Chunk(settings, name, recipe, first_run, min(CHUNK_RUNS, runs - first_run))
        for name, recipe in recipes.items()
        for first_run in range(0, runs, CHUNK_RUNS)
    ]
    store = Checkpoint(checkpoint, settings)
    parts: dict[Chunk, tuple[Indices, Outcome]] = {}
    with progress_bar("Simulating", runs * len(recipes), progress) as steps:
        for chunk in chunks:
            kept = store.read(chunk)
            if kept is not None:
                parts[chunk] = kept
                steps.advance(chunk.runs)
        waiting = [chunk for chunk in chunks if chunk not in parts]
        for chunk, rounds, outcome in _finished(waiting, jobs, backend):
            parts[chunk] = rounds, outcome
            store.write(chunk, rounds, outcome)
            steps.advance(chunk.runs)
    rounds = parts[chunks[0]][0]
    if any(not np.array_equal(other, rounds) for other, _ in parts.values()):
        raise ValueError("schedule must have the same number of rounds in every run")
    joined = {
        name: Outcome.joined([parts[chunk][1] for chunk in chunks if chunk.policy == name])
        for name in recipes
    }
    return Study(rounds, joined)


def _checked_schedule(schedule: Schedule) -> Schedule:
    if not hasattr(schedule, "rounds"):
        raise ValueError(f"schedule must be a schedule, Federated() say, got {schedule!r:.80}")
    return schedule


def _recipes(policies: Sequence[str] | Mapping[str, Recipe]) -> dict[str, Recipe]:
    """The recipe of each policy by name, checked."""
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


def _finished(
    chunks: list[Chunk], jobs: int, backend: str
) -> Iterable[tuple[Chunk, Indices, Outcome]]:
    """Each chunk with its rounds and its outcome, as soon as a process has finished it."""
    if backend == LOCAL and jobs != 1 and len(chunks) > 1:
        for chunk in {chunk.policy: chunk for chunk in chunks}.values():
            _compile_for(chunk)
    for place, (rounds, outcome) in finished(simulate_chunk, chunks, backend=backend, jobs=jobs):
        yield chunks[place], rounds, outcome


def _compile_for(chunk: Chunk) -> None:
    """Simulate one round of one run here, so that kernels are compiled once, not by every job."""
    short = replace(
        chunk.settings,
        schedule=Federated(),
        num_interactions=1,
        points=1,
        variance=False,
        snapshot_every=0,
    )
    simulate_chunk(replace(chunk, settings=short, first_run=0, runs=1))
