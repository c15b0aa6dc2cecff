"""Processes that are killed in the middle of a batch of decisions or of rewards.

The process that forks them must not have used polars, whose threads a fork does not copy: run
this file as a program, which prints its counts.
"""

import csv
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np

from hierbandits import Agent
from hierbandits.agent import decide_batch, decision_batch, reward_batch
from support.agents import ARMED
from support.kills import calls_of, killed_at
from support.processes import in_child, python

NUM_TASKS = 6


def counts_of(kind, folder, number):
    """The counts of `decide_kills` or `reward_kills`, in a process of its own."""
    tests = Path(__file__).parents[1]
    done = python("-m", "support.batch_kills", kind, folder, str(number), path=tests)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def decide_kills(folder, number, seed=0):
    """Kill so many deciders, then decide again: each batch must have happened once.

    The last is killed after it has saved the agent, before it writes the decisions.  Returns counts
    of the kills, and of those after which the agent knew the batch already, and after which the
    file was there.
    """
    agent, tasks, rng = folder / "agent.hb", _tasks(folder), np.random.default_rng(seed)
    Agent(ARMED, seed=0, draws=4).save(agent)
    calls = int(in_child(lambda: calls_of(lambda: decide_batch(agent, tasks, folder / "0.csv"))))
    counts = {"kills": 0, "saved": 0, "written": 0}
    for night, at in enumerate([*_moments(rng, calls, number - 1), None], start=1):
        out = folder / f"{night}.csv"
        prepare = _killed_between if at is None else lambda decide: decide
        decide = partial(decide_batch, agent, tasks, out)
        status = killed_at(at, partial(prepare, decide))
        assert status in (0, signal.SIGKILL)
        counts["kills"] += status == signal.SIGKILL
        counts["written"] += out.exists()
        again = in_child(lambda out=out: decide_batch(agent, tasks, out).made_before)
        counts["saved"] += again == "True"
        pending = Agent.load(agent).pending
        assert len(pending) == (night + 1) * NUM_TASKS
        made = [(decision.id, str(decision.arm)) for decision in pending[-NUM_TASKS:]]
        assert made == [(row["decision"], row["arm"]) for row in _read(out)]
    return counts


def reward_kills(folder, number, seed=0):
    """Kill so many learners of rewards, then learn again: each reward must be learned once.

    Returns counts of the kills, and of those after which the agent had learned already.
    """
    agent, tasks, rng = folder / "agent.hb", _tasks(folder), np.random.default_rng(seed)
    Agent(ARMED, seed=0).save(agent)
    counts, calls = {"kills": 0, "saved": 0}, 0
    for night in range(number + 1):
        out, rewards = folder / f"{night}.csv", folder / f"rewards-{night}.csv"
        in_child(lambda out=out: decide_batch(agent, tasks, out))
        rows = [f"{row['decision']},{night + place}" for place, row in enumerate(_read(out))]
        rewards.write_text("\n".join(["decision,reward", *rows]))
        if night == 0:
            calls = int(in_child(lambda: calls_of(lambda: reward_batch(agent, rewards))))  # noqa: B023
            continue
        (at,) = _moments(rng, calls, 1)
        status = killed_at(at, lambda file=rewards: lambda: reward_batch(agent, file))
        assert status in (0, signal.SIGKILL)
        learned = int(in_child(lambda file=rewards: reward_batch(agent, file).learned))
        assert learned in (0, NUM_TASKS)
        counts["kills"] += status == signal.SIGKILL
        counts["saved"] += learned == 0
        loaded = Agent.load(agent)
        assert loaded.belief.num_rewards.sum() == (night + 1) * NUM_TASKS
        assert not loaded.pending
    return counts


def _killed_between(decide):
    """The same call, by a process that kills itself when it would write the decisions."""
    decision_batch.write_new_table = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return decide


def _tasks(folder):
    path = folder / "tasks.csv"
    path.write_text("\n".join(["task", *(f"t{i}" for i in range(NUM_TASKS))]))
    return path


def _read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def _moments(rng, calls, number):
    """Calls at which to kill: half of them anywhere, half of them in the last quarter."""
    first = np.where(rng.random(number) < 0.5, 0, calls * 3 // 4)
    return (first + rng.random(number) * (calls - first)).astype(int).tolist()


if __name__ == "__main__":
    kinds = {"decide": decide_kills, "reward": reward_kills}
    print(json.dumps(kinds[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
