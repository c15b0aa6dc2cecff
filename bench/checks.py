"""`python -m bench.checks`: how often `learn` raises false alarms, and how often it sees trouble.

Logs of three arms or features are drawn with noise 1, mu ~ N(0, 1) and a task width of 0.5, clean
or with one trouble; and logs of three arms for what is said of tasks.  The tables are those of
docs/learning.md.
"""

import argparse
from collections import Counter

import numpy as np
import polars as pl
from numpy.random import Generator

import hierbandits as hb
from bench.tables import Table
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.learning.log_checks import LogChecks
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.sentence import Claim
from hierbandits.learning.task_similarity import Similarity
from hierbandits.learning.verdict import on_models
from hierbandits.logs import GroupSums, Survey

SHAPES = ((3, 20), (20, 20), (20, 50), (100, 10), (200, 5))  # tasks, rows of each
TROUBLES = {
    "one arm drifts by 0.6": Claim.DRIFT,
    "tasks drift by 1": Claim.DRIFT,
    "two groups, 3 apart": Claim.TWO_GROUPS,
    "one arm twice as noisy": Claim.NOISE_BY_ARM,
    "half the tasks twice as noisy": Claim.NOISE_BY_TASK,
    "noise of t, 3 degrees": Claim.HEAVY_TAILS,
}
WORLDS = {"equal": (0.0, 1.0), "0.3": (0.3, 1.0), "1": (1.0, 1.0), "1, nothing shared": (1.0, 0.0)}


def draw(rng: Generator, tasks: int, rows: int, armed: bool, trouble: str | None) -> hb.Log:
    """A log with times from 0 to 1."""
    task = np.repeat(np.arange(tasks), rows)
    n = task.size
    time, luck = rng.random(n), rng.standard_normal(n)
    late = time > 0.5
    theta = rng.standard_normal(3) + 0.5 * rng.standard_normal((tasks, 3))
    if trouble == "two groups, 3 apart":
        theta[:, 0] += np.where(rng.random(tasks) < 0.4, 3.0, 0.0)
    arm = rng.integers(0, 3, n)
    x = np.column_stack([np.ones(n), rng.standard_normal((n, 2))])
    first = arm == 0 if armed else np.ones(n, bool)
    reward = theta[task, arm] if armed else (x * theta[task]).sum(1)
    if trouble == "one arm drifts by 0.6":
        reward = reward + 0.6 * (late & first)
    if trouble == "tasks drift by 1":
        reward = reward + late * rng.standard_normal(tasks)[task]
    if trouble == "one arm twice as noisy":
        luck = luck * np.where(first, 2.0, 1.0)
    if trouble == "half the tasks twice as noisy":
        luck = luck * np.where(task % 2 == 0, 2.0, 1.0)
    if trouble == "noise of t, 3 degrees":
        luck = rng.standard_t(3, n) / np.sqrt(3)
    columns = {"task": task, "reward": reward + luck, "time": time}
    named = {"task": "task", "reward": "reward", "time": "time"}
    if armed:
        return hb.Log.read(pl.DataFrame(columns | {"arm": arm}), hb.Columns(arm="arm", **named))
    names = ["x0", "x1", "x2"]
    frame = pl.DataFrame(columns | dict(zip(names, x.T, strict=True)))
    return hb.Log.read(frame, hb.Columns(features=names, **named))


def troubles(log: hb.Log) -> set[Claim]:
    """What the checks say of a log."""
    sums = GroupSums()
    survey = Survey.of(log, with_each=sums.add)
    checks = LogChecks(survey, sums.total())
    for batch in log.batches():
        checks.add(batch)
    return {check.claim for check in checks.results(None, 0) if check.claim is not None}


def seen(logs: int, tasks: int, rows: int, armed: bool, trouble: str | None) -> str:
    """How often a trouble is seen, or any where there is none."""
    if trouble == "one arm twice as noisy" and not armed:
        return ""
    count = 0
    for number in range(logs):
        rng = np.random.default_rng([tasks, rows, armed, number])
        said = troubles(draw(rng, tasks, rows, armed, trouble))
        count += bool(said) if trouble is None else TROUBLES[trouble] in said
    return f"{100 * count / logs:.1f} %" if trouble is None else f"{100 * count / logs:.0f} %"


def said_of_tasks(logs: int, tasks: int, rows: int, world: str) -> str:
    """What the first sentence claims of tasks of a world."""
    made: Counter[str] = Counter()
    width, shared = WORLDS[world]
    for number in range(logs):
        rng = np.random.default_rng([tasks, rows, number])
        theta = shared * rng.normal(size=3) + width * rng.normal(size=(tasks, 3))
        task, arm = np.repeat(np.arange(tasks), rows), rng.integers(0, 3, tasks * rows)
        sums = hb.TaskSums.zeros(tasks, 3, armed=True)
        sums.add(task, arm, theta[task, arm] + rng.normal(size=task.size))
        made[_claim(sums).name.lower().replace("_", " ")] += 1
    return ", ".join(f"{name} {100 * count / logs:.0f} %" for name, count in made.most_common())


def _claim(sums: hb.TaskSums) -> Claim:
    one = np.zeros(len(sums.n), np.intp)
    fit = hb.fit_prior(sums, structure="scalar")
    belief = hb.Belief.from_sums(fit.prior, sums, population=one)
    posteriors = TaskPosteriors.of(belief)
    similarity = Similarity.of(fit, posteriors, sums, ("a", "b", "c"), ("all",))
    return on_models(Comparison.of(sums, one), similarity)[0].claim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=300, help="clean logs of each shape")
    given = parser.parse_args()
    some = max(1, given.logs // 10)
    for armed in (True, False):
        rows = []
        for tasks, each in SHAPES:
            row = [f"{tasks} × {each}", seen(given.logs, tasks, each, armed, None)]
            row += [seen(some, tasks, each, armed, trouble) for trouble in TROUBLES]
            rows.append(row)
            print(" | ".join(row), flush=True)
        title = "arms" if armed else "features"
        print(Table("", [title, "any, if clean", *TROUBLES], rows).markdown(), flush=True)
    rows = []
    for tasks, each in ((3, 20), (20, 50), (200, 5)):
        said = [said_of_tasks(2 * some, tasks, each, world) for world in WORLDS]
        rows.append([f"{tasks} × {each}", *said])
    print(Table("", ["log", *WORLDS], rows).markdown(), flush=True)


if __name__ == "__main__":
    main()
