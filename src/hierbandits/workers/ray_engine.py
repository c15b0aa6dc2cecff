"""Work on Ray: the cluster that is connected, or one on this machine."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from hierbandits.workers.attempt import AHEAD, attempted, outcome

RETRIES = 3
"""How often Ray repeats a piece of work whose worker was lost."""


def finished_on_ray(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as a worker has finished it.

    Without a connection, `ray.init` looks for a cluster (RAY_ADDRESS) and starts one on this
    machine if there is none.  It stays until the program ends.  If the caller stops early, the
    work that was given out is finished for nothing: `ray.cancel` of work that is just finished
    ends the whole program in Ray 2.60.
    """
    import ray

    if not ray.is_initialized():
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a library reports nothing
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or Ray warns
        ray.init(log_to_driver=False, logging_level=logging.ERROR)
    attempt = ray.remote(max_retries=RETRIES)(attempted)
    shared = ray.put(function)  # once, whatever it carries
    left, waiting = enumerate(items), dict[Any, int]()
    while True:
        ahead = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        for place, item in islice(left, max(0, ahead - len(waiting))):
            waiting[attempt.remote(shared, item)] = place
        if not waiting:
            return
        done, _ = ray.wait(list(waiting), num_returns=1)
        yield waiting.pop(done[0]), outcome(ray.get(done[0]))
