"""How things are timed: short repetitions, taken in turn, and the best of each."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)
Repetition = Callable[[], float]  # runs for a moment and returns its microseconds per event


def best(repetitions: Mapping[Name, Repetition], times: int) -> dict[Name, float]:
    """The least of each, all of them interleaved so that they share the machine's moods."""
    least = dict.fromkeys(repetitions, float("inf"))
    for _ in range(times):
        for name, repetition in repetitions.items():
            least[name] = min(least[name], repetition())
    return least
