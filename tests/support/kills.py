"""Processes that are killed in the middle of what they do: of saving an agent, say."""

import os
import signal
import sys
import warnings

import numpy as np

from hierbandits import Agent
from support.agents import ARMED, Clock


def kills(folder, number, seed=0):
    """Kill so many savers, each at another call; after each the file must be whole.

    Returns counts: of the kills, of those after which the file was the new one, and of the files
    that the dead left in the end.
    """
    path, rng = folder / "agent", np.random.default_rng(seed)
    agent = Agent(ARMED, seed=0, clock=Clock())
    agent.decide_many(range(30))
    agent.save(path)
    calls = calls_of(lambda: agent.save(path))
    killed = new = 0
    for at in rng.integers(0, calls, number).tolist():
        known = len(agent.pending)
        status = killed_at(at, lambda: _ready_to_save(path))
        killed += status == signal.SIGKILL
        assert status in (0, signal.SIGKILL)  # it had done all before the call came
        agent = Agent.load(path, clock=Clock())
        assert len(agent.pending) - known in (0, 1)  # the old file, or the new one
        new += len(agent.pending) - known
        assert len(list(folder.iterdir())) <= 2  # the file, and what the last one left
    agent.save(path)
    left = [each for each in folder.iterdir() if each != path]
    return {"kills": killed, "after_the_rename": new, "files_left": len(left)}


def _ready_to_save(path):
    """A function that saves an agent with one more decision."""
    agent = Agent.load(path, clock=Clock())
    agent.decide(1)
    return lambda: agent.save(path)


def calls_of(action, at=None):
    """The number of calls and returns of an action; at one of them the process kills itself."""
    count = 0

    def watch(frame, event, what):
        nonlocal count
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1

    sys.setprofile(watch)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def killed_at(at, prepare):
    """How a child ended that was killed at a call of the action that `prepare` returns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks where threads run
        child = os.fork()
    if child == 0:
        try:
            calls_of(prepare(), at)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]
