"""Work on Spark: the session's cluster, or this machine."""

import gc
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any
from uuid import uuid4

from hierbandits.workers.parcels import AHEAD, Attempt, Parcel, Parcels, attempted

_loaded = 0
"""The modules that this process had when it last set aside what stays."""

_own: list[Any] = []
"""The session that was made here, if there was no context."""


def finished_on_spark(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as an executor has finished its parcel.

    Without a session, `getOrCreate` makes one; it is local unless spark-submit or Spark's
    configuration names a master.  Each parcel is a Spark job of its own, so that its results come
    at once.  A cluster repeats lost work as often as `spark.task.maxFailures` says.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    was_there = SparkContext._active_spark_context is not None
    builder = SparkSession.builder.appName("hierbandits")
    builder = builder.config("spark.ui.showConsoleProgress", "false")  # it would hide ours
    session = SparkSession.getActiveSession() or builder.getOrCreate()
    if not was_there:
        _own.append(session)
    context = session.sparkContext
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # which has the packages; "python3" may be another
    work = partial(_on_executor, context.broadcast(function))

    def run(parcel: Parcel) -> Attempt:
        attempt: Attempt = context.parallelize([parcel], 1).map(work).collect()[0]
        return attempt

    parcels, running = Parcels(items), set[Future[Attempt]]()
    workers, group = max(1, context.defaultParallelism), f"hierbandits {uuid4()}"
    with ThreadPoolExecutor(AHEAD * workers, "spark", context.setJobGroup, (group, "")) as threads:
        try:
            while True:
                while len(running) < AHEAD * workers and (parcel := parcels.next(workers)):
                    running.add(threads.submit(run, parcel))
                if not running:
                    return
                done = next(iter(wait(running, return_when=FIRST_COMPLETED).done))
                running.remove(done)
                yield from parcels.outcome(done.result())
        finally:
            if running:  # an error, or a caller who stops early
                context.cancelJobGroup(group)


def end_own_spark(*, at_once: bool) -> None:
    """Stop the session that was made here; a process that ends `at_once` takes Spark's along."""
    while _own and not at_once:
        _own.pop().stop()


def _on_executor(shared: Any, parcel: Parcel) -> Attempt:
    attempt = attempted(shared.value, parcel)
    _set_aside_what_stays()
    return attempt


def _set_aside_what_stays() -> None:
    """Keep modules and kernels that are loaded out of garbage collections.

    Spark's worker collects garbage after each task.  Where this package and numba are loaded,
    that takes 0.07 s, and the next task waits.
    """
    global _loaded
    if len(sys.modules) > _loaded:
        gc.collect()
        gc.freeze()
        _loaded = len(sys.modules)
