"""The names of tasks, arms and populations that are met in a log."""

from collections.abc import Sequence
from unicodedata import normalize

import numpy as np

from hierbandits.types import Name


def look_of(name: str) -> str:
    """What names have in common that look the same to people: case and spaces do not count."""
    return " ".join(normalize("NFKC", name).casefold().split())


class Names:
    """The names met so far, in order of first appearance: a batch's numbers are places in them."""

    def __init__(self, arms: Sequence[Name] | None) -> None:
        self.tasks: list[Name] = []
        self.arms: list[Name] = list(arms or ())
        self.populations: list[Name] = []
        self.population = np.empty(0, np.intp)  # the population of each task, (tasks,)
