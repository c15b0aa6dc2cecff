"""Work on Dask: the client's cluster, or one on this machine."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hierbandits.workers.attempt import attempted, outcome


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
        client = Client(threads_per_worker=1, dashboard_address=None, set_as_default=True)
    places = {
        client.submit(attempted, function, item, pure=False): place
        for place, item in enumerate(items)
    }
    try:
        for future in as_completed(list(places)):
            result = outcome(future.result())
            yield places.pop(future), result
            future.release()
    finally:
        client.cancel(list(places))
