"""Adaptive beliefs, the events they learn, and exact beliefs of the widths that they fitted."""

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


def assert_same_hierarchy(one, other, rtol=1e-9):
    np.testing.assert_allclose(one.noise_std, other.noise_std, rtol=rtol)
    for a, b in zip(one.covs, other.covs, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
    np.testing.assert_allclose(one.hyper_mean, other.hyper_mean, rtol=rtol, atol=rtol)


def assert_same_knowledge(belief, other, nodes, others=None):
    """The marginals of nodes of one belief are those of `others` of another."""
    for node, twin in zip(nodes, nodes if others is None else others, strict=True):
        found, right = belief.task(node), other.task(twin)
        scale = np.abs(right.mean).max() + right.std.max()
        np.testing.assert_allclose(found.mean, right.mean, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(found.cov, right.cov, rtol=1e-8, atol=1e-9 * scale**2)


def assert_exact(belief, nodes, events, population=0):
    """A population is as a belief in its hierarchy that learned its events, (node, x, y)."""
    own = Belief(belief.hierarchy(population), len(nodes))
    if events:
        places, x, y = zip(*events, strict=True)
        own.observe([nodes.index(node) for node in places], np.array(x), np.array(y))
    root = int(belief.roots[population])
    assert_same_knowledge(belief, own, [*nodes, root], [*range(len(nodes)), len(nodes)])
    assert belief.num_rewards[population] == len(events)
    np.testing.assert_allclose(
        belief.log_evidence()[population], own.log_evidence()[0], rtol=1e-9, atol=1e-8
    )
