"""Events: what a world is asked about."""

from typing import NamedTuple

import numpy as np

from hierbandits.checks import index_array
from hierbandits.types import Indices


class EventKeys(NamedTuple):
    """In which run events are, of which task, and which of the task's interactions.

    As a tuple they are the keys of random numbers; see `Stream`.
    """

    run: Indices  # (E,)
    task: Indices  # (E,)
    interaction: Indices  # (E,), counted from 0


class Events(EventKeys):
    """Events of one round, and the number of the round, which is no key of random numbers.

    Rounds are counted from 0 over all tasks: worlds that drift in calendar time read `round`.
    """

    round: int

    def __new__(cls, run: Indices, task: Indices, interaction: Indices, round: int = 0) -> "Events":
        """Events by their keys, in a round."""
        events = super().__new__(cls, run, task, interaction)
        events.round = round
        return events


def checked_events(events: Events, first_run: int, runs: int | None, num_tasks: int) -> Indices:
    """The run of each event, counted from `first_run`, if it and the task are there.

    `runs` is how many there are; None for any number.
    """
    task = index_array("events.task", events.task, num_tasks, "tasks")
    most = np.iinfo(np.intp).max if runs is None else runs
    run = index_array("events.run", np.asarray(events.run) - first_run, most, "runs from the first")
    if not run.shape == task.shape == np.shape(events.interaction):
        raise ValueError(f"events must have as many runs as tasks and interactions, got {events}")
    return run
