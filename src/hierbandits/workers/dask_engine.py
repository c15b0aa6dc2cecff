"""Work on Dask: the client's cluster, or one on this machine."""

import logging
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing import resource_tracker, util
from threading import Thread
from typing import Any

from hierbandits.workers.parcels import AHEAD, Parcels, attempted

_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**27,
}
"""Settings of a cluster that starts here.

Dask looks at what its workers do a hundred times a second, and lets them give memory back after
each array.  Together that takes some twentieth of their time.
"""

_own: list[Any] = []
"""The client that was made here, if there was none."""

_earlier: list[set[Any]] = []
"""The processes below this one before it was made."""


def finished_on_dask(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as a worker has finished its parcel.

    Without a client, one is made for the scheduler of Dask's configuration
    (DASK_SCHEDULER_ADDRESS), or for processes on this machine, which stay until `end_own_dask` or
    the program's end.  Dask repeats the work of a lost worker, as often as
    `distributed.scheduler.allowed-failures` says.
    """
    from distributed import as_completed, default_client

    try:
        client = default_client()
    except ValueError:
        _earlier[:] = [{*multiprocessing.active_children()}]
        client = started(dashboard_address=":0", set_as_default=True)
        _own.append(client)
    parcels, running, finished = Parcels(items), set[Any](), as_completed()
    try:
        while True:
            workers = max(1, sum(client.nthreads().values()))
            while len(running) < AHEAD * workers and (parcel := parcels.next(workers)):
                future = client.submit(attempted, function, parcel, pure=False)
                running.add(future)
                finished.add(future)
            if not running:
                return
            future = next(finished)
            attempt = future.result()
            running.remove(future)
            yield from parcels.outcome(attempt)
    finally:
        client.cancel(list(running))


def started(**options: Any) -> Any:
    """A client of the configured scheduler, or of workers that start here, with options of both."""
    import dask
    from distributed import Client

    def start() -> Any:
        if dask.config.get("scheduler-address", None):
            return Client(set_as_default=True)  # which takes no options for workers
        with dask.config.set(_SETTINGS):
            client = Client(threads_per_worker=1, **options)
        if client.cluster is not None:
            client.register_worker_callbacks(_quiet)
            logging.getLogger("tornado.application").addFilter(_is_news)
        return client

    return _deaf(start)


def _quiet() -> None:
    """Let a worker say nothing of work that is called back: that is no error of anybody."""
    logging.getLogger("distributed.worker.state_machine").setLevel(logging.ERROR)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record is not of a call that Ctrl-C has ended, which Dask calls back too late."""
    return "sync.<locals>.cancel" not in record.getMessage()


def end_own_dask(*, at_once: bool) -> None:
    """Close the client that was made here, and the workers that started with it.

    `at_once` kills the workers, also those that are just starting, and leaves the rest as it is.
    """
    if not _earlier:
        return
    if at_once:
        for process in {*multiprocessing.active_children()} - _earlier[0]:
            process.kill()
        tidy: Any = util
        tidy._run_finalizers(0)  # or Python says that semaphores are left
        return
    while _own:
        with suppress(Exception):  # it may have been closed by others, or lost its scheduler
            _own[-1].close()  # and the cluster that it started, if there is one
        _own.pop()
    _earlier.clear()


def _deaf(action: Callable[[], Any]) -> Any:
    """What an action returns; threads and processes that it starts do not hear Ctrl-C.

    A terminal tells it to all processes of a command, and each worker would print where it was.
    """
    outcome: Future[Any] = Future()

    def act() -> None:
        if hasattr(signal, "pthread_sigmask"):
            resource_tracker.ensure_running()  # whose start would undo the next line
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # for this thread and on
        try:
            outcome.set_result(action())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=act, daemon=True).start()
    return outcome.result()
