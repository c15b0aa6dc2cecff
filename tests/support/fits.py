"""Sums drawn from known hierarchies, and the objective that a fit sets itself."""

import numpy as np

from hierbandits import TaskSums
from hierbandits.fitting import fit_prior
from hierbandits.fitting import maximum_evidence as fitting

STRUCTURES = ["scalar", "diagonal", "full", "low-rank"]


FORMS = [(s, False) for s in STRUCTURES] + [(s, True) for s in [*STRUCTURES, "common"]]


def drawn_sums(rng, *, tasks, events, task_cov, noise, hyper_cov, mean, populations=1, armed=False):
    """Sums of a world drawn from the hierarchy: `events` per task."""
    d = len(mean)
    mu = rng.multivariate_normal(mean, hyper_cov, populations)
    theta = np.repeat(mu, tasks, axis=0)
    theta = theta + rng.multivariate_normal(np.zeros(d), task_cov, len(theta))
    rows = np.repeat(np.arange(len(theta)), events)
    x = rng.integers(0, d, rows.size) if armed else rng.standard_normal((rows.size, d))
    signal = theta[rows, x] if armed else (x * theta[rows]).sum(1)
    sums = TaskSums.zeros(len(theta), d, armed=armed)
    sums.add(rows, x, signal + noise * rng.standard_normal(rows.size))
    return sums


def evenly(sums, populations):
    """The population of each task: equal shares, in order."""
    return np.arange(len(sums.n)) * populations // len(sums.n)


def objective_of(sums, populations, structure, monkeypatch, rank=1, **given):
    """The problem that fit_prior sets itself, and its units."""
    caught = {}

    def catch(objective, units, *_):
        caught.update(problem=objective, units=units)

    monkeypatch.setattr(fitting, "fit_objective", catch)
    fit_prior(sums, population=evenly(sums, populations), structure=structure, rank=rank, **given)
    monkeypatch.undo()
    return caught["problem"], caught["units"]


def one_way(rng, m, n, task_std):
    """One arm, n rewards a task: the sums, and the mean squares between and within tasks."""
    y = 3.0 + task_std * rng.standard_normal((m, 1)) + 0.9 * rng.standard_normal((m, n))
    sums = TaskSums.zeros(m, 1, armed=True)
    sums.add(np.repeat(np.arange(m), n), np.zeros(m * n, int), y.ravel())
    within = ((y - y.mean(1, keepdims=True)) ** 2).sum() / (m * (n - 1))
    return sums, n * y.mean(1).var(ddof=1), within, y


def uneven_sums(rng, noises, *, tasks, events, task_std=0.4):
    """Sums of arms with these noises, and the squares of each task's and arm's rewards."""
    d = len(noises)
    theta = np.arange(1.0, d + 1) + task_std * rng.standard_normal((tasks, d))
    rows, arms = np.repeat(np.arange(tasks), events), rng.integers(0, d, tasks * events)
    y = theta[rows, arms] + np.array(noises)[arms] * rng.standard_normal(rows.size)
    sums, squares = TaskSums.zeros(tasks, d, armed=True), np.zeros((tasks, d))
    sums.add(rows, arms, y)
    np.add.at(squares, (rows, arms), y**2)
    return sums, squares
