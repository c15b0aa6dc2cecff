"""Work on this machine: in this process, or in several by joblib."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def finished_here(
    function: Callable[[Any], Any], items: Sequence[Any], jobs: int = 1
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as a process has finished it."""
    if jobs == 1 or len(items) < 2:
        for place, item in enumerate(items):
            yield place, function(item)
        return
    from joblib import Parallel, delayed

    work = (delayed(_placed)(function, place, item) for place, item in enumerate(items))
    yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(work)


def _placed(function: Callable[[Any], Any], place: int, item: Any) -> tuple[int, Any]:
    return place, function(item)
