"""Adaptive beliefs, the events they learn, and exact beliefs run apart."""

import numpy as np

from hierbandits import Belief
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.models.unknown_widths import UnknownWidths

D, TASKS = 3, 5
FORMS = {"linear": False, "armed": True}


NOISE = {"known": 0.7, "unknown": None}


def adaptive_belief(armed, noise_std, populations=1):
    widths = UnknownWidths.of(D, armed=armed, noise_std=noise_std, hyper_mean=[0.5, 0.0, -1.0])
    belief = AdaptiveBelief(widths, TASKS, populations)
    return belief, widths


def observe_one_by_one(belief, tasks, features, rewards):
    for e in range(len(tasks)):
        belief.observe(tasks[e : e + 1], features[e : e + 1], rewards[e : e + 1])


def drawn_events(seed, size, armed, *, populations=1, task_std=0.4, noise=0.7, unit=1.0):
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=(populations, D))
    theta = np.repeat(mu, TASKS, axis=0) + task_std * rng.normal(size=(populations * TASKS, D))
    tasks = rng.integers(0, populations * TASKS, size)
    features = rng.integers(0, D, size) if armed else unit * rng.normal(size=(size, D))
    mean = theta[tasks, features] if armed else (features * theta[tasks]).sum(1) / unit
    return tasks, features, mean + noise * rng.normal(size=size)


def beliefs_apart(belief, widths, tasks, features, rewards, population=0):
    """Every candidate that is left, run on its own from the start: (log weight, belief)."""
    held = belief.candidates
    for c in np.flatnonzero(held.active[:, population]):
        point = tuple(held.points[c, population].tolist())
        prior = widths.hierarchy(point, held.units[population])
        own = Belief(prior, TASKS)
        own.observe(tasks, features, rewards)
        evidence = own.evidence
        log = evidence.log() if widths.noise_std else evidence.log_any_scale()
        yield int(c), widths.log_prior(point) + float(log[0]), own
