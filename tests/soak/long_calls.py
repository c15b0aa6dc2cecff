"""No call of an agent with unknown widths takes 20 ms of its thread's time."""

import time
from collections import Counter

import numpy as np

import hierbandits as hb

CALLS, TASKS, MOST = 100_000, 20_000, 20.0  # milliseconds
KINDS = {
    "16 features": {"num_features": 16},
    "10 features": {"num_features": 10},
    **{f"{number} arms": {"arms": list(range(number))} for number in (5, 10, 16, 40)},
}


def main(seconds):
    """Each kind of agent makes so many calls at least."""
    hb.warm_up()
    end, counts, seed = time.monotonic() + seconds, Counter(), 0
    while seed == 0 or time.monotonic() < end:
        for kind, options in KINDS.items():
            # A call that is long in both of two same lives is long by itself.
            longest = np.minimum(_calls(options, seed), _calls(options, seed)).max()
            assert longest < MOST, f"{kind}, seed {seed}: {longest:.1f} ms"
            counts[f"calls, {kind}"] += CALLS
            most = f"microseconds of the longest call, {kind}"
            counts[most] = max(counts[most], int(1000 * longest))
        seed += 1
    return dict(counts)


def _calls(options, seed):
    """How long each `decide` and `reward` of a life takes, in milliseconds."""
    rng, agent = np.random.default_rng(seed), hb.Agent(seed=seed, **options)
    dim = agent.prior.dim
    table = None if agent.prior.is_armed else rng.normal(size=(10, dim))
    theta, took = rng.normal(size=dim) + 0.3 * rng.normal(size=(TASKS, dim)), []
    for task in rng.integers(TASKS, size=CALLS // 2).tolist():
        start = time.thread_time_ns()
        made = agent.decide(task, table)
        took.append(time.thread_time_ns() - start)
        mean = theta[task, made.arm] if table is None else np.dot(made.features, theta[task])
        reward = float(mean + rng.normal())
        start = time.thread_time_ns()
        agent.reward(made.id, reward)
        took.append(time.thread_time_ns() - start)
    return np.array(took) / 1e6
