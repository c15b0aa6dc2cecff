"""One piece of work on a worker of a cluster."""

from collections.abc import Callable
from typing import Any, TypeAlias

Attempt: TypeAlias = tuple[Any, Exception | None]
"""What a function returned, or the error that it raised."""

AHEAD = 2
"""Pieces of work that are given out at a time, for each processor of a cluster.

So a worker never waits, and neither the pieces nor their results pile up.
"""


def attempted(function: Callable[[Any], Any], item: Any) -> Attempt:
    """Call a function on a worker: its own errors travel as values, as they are.

    So a cluster repeats the work that a lost worker had, and never work that was refused.
    """
    try:
        return function(item), None
    except Exception as error:
        return None, error.with_traceback(None)


def outcome(attempt: Attempt) -> Any:
    """What was returned; an error is raised here."""
    result, error = attempt
    if error is not None:
        raise error
    return result
