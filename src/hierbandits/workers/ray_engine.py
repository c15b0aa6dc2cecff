"""Work on Ray: the cluster that is connected, or one on this machine."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from hierbandits.workers.parcels import AHEAD, Parcels, attempted

RETRIES = 3
"""How often Ray repeats a piece of work whose worker was lost."""

_earlier: list[set[Any]] = []
"""The processes below this one before it called `ray.init`, if it did."""


def finished_on_ray(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as a worker has finished its parcel.

    Without a connection, `ray.init` looks for a cluster (RAY_ADDRESS) and starts one on this
    machine if there is none.  It stays until `end_own_ray` or the program's end.  If the caller
    stops early, the work that was given out is finished for nothing: `ray.cancel` of work that is
    just finished ends the whole program in Ray 2.60.
    """
    import ray

    if not ray.is_initialized():
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a library reports nothing
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns
        _earlier[:] = [_below()]
        ray.init(log_to_driver=False, logging_level=logging.ERROR)
    attempt = ray.remote(max_retries=RETRIES)(attempted)
    shared = ray.put(function)  # once, whatever it carries
    parcels, running = Parcels(items), list[Any]()
    while True:
        workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        while len(running) < AHEAD * workers and (parcel := parcels.next(workers)):
            running.append(attempt.remote(shared, parcel))
        if not running:
            return
        done, running = ray.wait(running, num_returns=1)
        yield from parcels.outcome(ray.get(done[0]))


def end_own_ray(*, at_once: bool) -> None:
    """Undo the `ray.init` of this module: leave a cluster that was there, end one that was not.

    Ray gives its processes a second.  On a busy machine some would stay for half a minute, so
    those that are left are killed; `at_once` kills all without asking.
    """
    if not _earlier:
        return
    import ray

    started = _below() - _earlier.pop()
    try:
        if not at_once:
            ray.shutdown()
    finally:
        for process in started:
            with suppress(Exception):  # it has ended
                process.kill()


def _below() -> set[Any]:
    """All processes below this one."""
    import psutil  # which Ray brings

    return {*psutil.Process().children(recursive=True)}
