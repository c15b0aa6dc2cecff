"""How things are timed: short repetitions, taken in turn, and the best of each."""

from collections.abc import Callable, Mapping

Repetition = Callable[[], float]  # runs for a moment and returns its microseconds per event


def best(repetitions: Mapping[str, Repetition], times: int) -> dict[str, float]:
    """The least of each, all of them interleaved so that they share the machine's moods."""
    least = dict.fromkeys(repetitions, float("inf"))
    for _ in range(times):
        for name, repetition in repetitions.items():
            least[name] = min(least[name], repetition())
    return least
