"""Work that kills the process it runs in, once."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from hierbandits import POLICIES


def die_once(marker):
    """Kill this process as the kernel would, unless the marker's file is there already."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class DeadlyRule:
    """The rule of HierTS, whose first choice anywhere ends its process."""

    marker: str

    def __call__(self, view, rng, tasks, arms, /):
        die_once(self.marker)
        return POLICIES["HierTS"].rule(view, rng, tasks, arms)


@dataclass(frozen=True)
class DeadlySquare:
    """The square of a number; that of `deadly` ends its process the first time."""

    marker: str
    deadly: int

    def __call__(self, number):
        if number == self.deadly:
            die_once(self.marker)
        return number**2


def refused(number):
    """Refuses the number 2."""
    if number == 2:
        raise ValueError(f"number must not be 2, got {number}")
    return number
