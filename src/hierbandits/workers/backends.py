"""The back ends by name, and what each of them needs."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hierbandits.checks import one_of
from hierbandits.workers.dask_engine import end_own_dask, finished_on_dask
from hierbandits.workers.local_engine import finished_here
from hierbandits.workers.ray_engine import end_own_ray, finished_on_ray
from hierbandits.workers.spark_engine import end_own_spark, finished_on_spark

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with workers of its own."""

    finished: Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[int, Any]]]
    end_own: Callable[..., None]  # with at_once, True or False
    package: str  # to be imported
    extra: str  # of hierbandits, which installs it


ENGINES: Mapping[str, Engine] = {
    "ray": Engine(finished_on_ray, end_own_ray, "ray", "ray"),
    "dask": Engine(finished_on_dask, end_own_dask, "distributed", "dask"),
    "spark": Engine(finished_on_spark, end_own_spark, "pyspark", "spark"),
}

BACKENDS = (LOCAL, *ENGINES)
"""The values of `backend`."""


def checked_backend(backend: str, jobs: int = 1) -> str:
    """A back end's name, if its package is there; only "local" has a number of jobs."""
    one_of("backend", backend, BACKENDS)
    if backend == LOCAL:
        return backend
    if jobs != 1:
        raise ValueError(
            f"jobs must be 1 with backend={backend!r}, whose cluster has workers of its own, got "
            f"{jobs!r}"
        )
    engine = ENGINES[backend]
    try:
        import_module(engine.package)
    except ImportError as error:
        raise ImportError(
            f"backend={backend!r} needs the package {engine.package} ({error}): pip install "
            f"'hierbandits[{engine.extra}]'"
        ) from error
    return backend


def finished(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    backend: str = LOCAL,
    jobs: int = 1,
) -> Iterator[tuple[int, Any]]:
    """The place and the result of each item, soon after a worker has finished it.

    Workers import the function, or are sent it if it is a script's own.  An error of the function
    is raised here.  Work of lost workers is done again by others.  Short items travel to a
    cluster's workers together, in parcels of about four seconds.
    """
    backend = checked_backend(backend, jobs)
    if backend == LOCAL:
        return finished_here(function, items, jobs)
    return ENGINES[backend].finished(function, items)


def end_own_cluster(backend: str, *, at_once: bool = False) -> None:
    """End the cluster that started here for this program's work; one of others is left alone.

    Meanwhile nobody logs anything.  `at_once` is for a program that is about to end: it waits for
    nothing, and what can only be done in order is not done.
    """
    if backend == LOCAL:
        return
    earlier = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        ENGINES[backend].end_own(at_once=at_once)
    finally:
        logging.disable(earlier)


def successive(
    function: Callable[[Any], Any], items: Sequence[Any], *, backend: str = LOCAL
) -> Iterator[Any]:
    """The result of each item, in the order of the items; none is kept longer than it must be."""
    early: dict[int, Any] = {}
    turn = 0
    for place, result in finished(function, items, backend=backend):
        early[place] = result
        while turn in early:
            yield early.pop(turn)
            turn += 1


def in_order(
    function: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    backend: str = LOCAL,
    with_each: Callable[[], object] = lambda: None,
) -> list[Any]:
    """The results of all items in their order; `with_each` is called as each is finished."""
    results: dict[int, Any] = {}
    for place, result in finished(function, items, backend=backend):
        results[place] = result
        with_each()
    return [results[place] for place in range(len(items))]
