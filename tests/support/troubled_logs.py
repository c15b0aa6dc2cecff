"""Logs that fit the model but for one trouble, which is known."""

import numpy as np
import polars as pl

from hierbandits import Columns, Log
from hierbandits.learning.log_checks import LogChecks
from hierbandits.logs import GroupSums, Survey


def troubled(seed, *, armed=True, tasks=20, rows=50, trouble=None, task_std=0.5):
    """A log of three arms or features, noise 1, and times from 0 to 1."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(tasks), rows)
    time, luck = rng.random(task.size), rng.standard_normal(task.size)
    theta = rng.standard_normal(3) + task_std * rng.standard_normal((tasks, 3))
    if trouble == "groups":
        theta[:, 0] += np.where(rng.random(tasks) < 0.4, 4.0, 0.0)
    if armed:
        x = rng.integers(0, 3, task.size)
        signal, first = theta[task, x], x == 0
    else:
        x = np.column_stack([np.ones(task.size), rng.standard_normal((task.size, 2))])
        signal, first = (x * theta[task]).sum(1), np.ones(task.size, bool)
    if trouble == "noise by arm":
        luck = luck * np.where(first, 2.0, 1.0)
    if trouble == "noise by task":
        luck = luck * np.where(task % 2 == 0, 2.0, 1.0)
    if trouble == "tails":
        luck = rng.standard_t(3, task.size) / np.sqrt(3)
    if trouble == "drift":
        signal = signal + np.where((time > 0.5) & first, 0.8, 0.0)
    if trouble == "drift of tasks":
        signal = signal + np.where(time > 0.5, rng.standard_normal(tasks)[task], 0.0)
    columns = {"task": task, "reward": signal + luck, "time": time}
    named = {"task": "task", "reward": "reward", "time": "time"}
    if armed:
        return Log.read(pl.DataFrame(columns | {"arm": x}), Columns(arm="arm", **named))
    columns |= {f"x{j}": x[:, j] for j in range(3)}
    return Log.read(pl.DataFrame(columns), Columns(features=["x0", "x1", "x2"], **named))


def checked(log, seed=0):
    """The checks of a log, by what they ask."""
    sums = GroupSums()
    survey = Survey.of(log, with_each=sums.add)
    checks = LogChecks(survey, sums.total())
    for batch in log.batches():
        checks.add(batch)
    return checks.results(None, seed)


def troubles(log, seed=0):
    """What the checks find."""
    return {check.claim for check in checked(log, seed)} - {None}
