"""Numbers of very different sizes, against exact fractions; and corrections, exact or refused."""

import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from support.sharp_worlds import (
    LEARNERS,
    MAKERS,
    TASKS,
    check_exact,
    check_finite,
    events,
    observed,
)


def main(seconds):
    """One seed after another."""
    end, counts, seed = time.monotonic() + seconds, Counter(), 1000
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            rng = np.random.default_rng(seed)
            make, learn = MAKERS[seed % 3], LEARNERS[seed % 2]
            noise, number = 10.0 ** rng.uniform(-9.5, 0), int(rng.integers(3, 12))
            judged = check_exact(make, learn, noise, number, seed)
            counts["posteriors against exact fractions"] += judged
            accepted = check_finite(seed, Path(folder) / "belief")
            counts["histories of any size " + ("learned" if accepted else "refused")] += 1
            counts[f"corrections {_corrected(make, rng)}"] += 1
            seed += 1
    return dict(counts)


def _corrected(make, rng):
    """A reward of any size is put right: all is as if it had been so, or it is refused."""
    prior = make(rng, 10.0 ** rng.uniform(-2, 1))
    tasks, features, rewards, _ = events(rng, prior, 20)
    size = 10.0 ** rng.uniform(0, 12) * prior.noise_std
    belief = observed(prior, tasks, features, np.where(np.arange(20) == 7, size, rewards))
    try:
        belief.revise(tasks[7], features[7], size, rewards[7])
    except ValueError:
        return "refused"
    right = observed(prior, tasks, features, rewards)
    for node in range(TASKS):
        apart = np.abs(belief.task(node).mean - right.task(node).mean) / right.task(node).std
        assert apart.max() < 1e-8, apart
    apart = belief.log_evidence() - right.log_evidence()
    usual = max(20.0, (rewards[7] / prior.noise_std) ** 2)
    assert np.abs(apart).max() < 1e-8 * usual, apart
    return "made"
