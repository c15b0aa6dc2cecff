"""Events: what a world is asked about."""

from typing import NamedTuple

from hierbandits.types import Indices


class Events(NamedTuple):
    """Events: in which run, of which task, and which of the task's interactions.

    As a tuple they are the keys of random numbers; see `Stream`.
    """

    run: Indices  # (E,)
    task: Indices  # (E,)
    interaction: Indices  # (E,), counted from 0
