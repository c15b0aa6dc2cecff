"""Work on Spark: the session's cluster, or this machine."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from hierbandits.workers.attempt import attempted, outcome


def finished_on_spark(
    function: Callable[[Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, as soon as an executor has finished it.

    Without a session, `getOrCreate` makes one; it is local unless spark-submit or Spark's
    configuration names a master.  Each item is a Spark job of its own, so that its result comes
    at once.  A cluster repeats lost work as often as `spark.task.maxFailures` says.
    """
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    if SparkConf().get("spark.master", "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # has the packages of this one
    context = SparkSession.builder.appName("hierbandits").getOrCreate().sparkContext
    shared = context.broadcast(function)

    def run(item: Any) -> Any:
        work = partial(_on_executor, shared)
        return context.parallelize([item], 1).map(work).collect()[0]

    with ThreadPoolExecutor(context.defaultParallelism) as threads:
        places = {threads.submit(run, item): place for place, item in enumerate(items)}
        try:
            for job in as_completed(places):
                yield places[job], outcome(job.result())
        finally:
            threads.shutdown(cancel_futures=True)


def _on_executor(shared: Any, item: Any) -> Any:
    return attempted(shared.value, item)
