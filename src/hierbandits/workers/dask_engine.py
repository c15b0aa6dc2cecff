"""Work on Dask: the client's cluster, or one on this machine."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from hierbandits.workers.attempt import AHEAD, attempted, outcome


def finished_on_dask(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as a worker has finished it.

    Without a client, one is made for the scheduler of Dask's configuration
    (DASK_SCHEDULER_ADDRESS), or for processes on this machine, which stay until the program ends.
    Dask repeats the work of a lost worker, as often as `distributed.scheduler.allowed-failures`
    says.
    """
    from distributed import Client, as_completed, default_client

    try:
        client = default_client()
    except ValueError:
        client = Client(threads_per_worker=1, dashboard_address=":0", set_as_default=True)
    left, places, running = enumerate(items), dict[Any, int](), as_completed()
    try:
        while True:
            ahead = AHEAD * max(1, sum(client.nthreads().values()))
            for place, item in islice(left, max(0, ahead - len(places))):
                future = client.submit(attempted, function, item, pure=False)
                places[future] = place
                running.add(future)
            if not places:
                return
            future = next(running)
            result = outcome(future.result())
            yield places.pop(future), result
    finally:
        client.cancel(list(places))
