"""The option `--backend`: who does the work of a command."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import typer

from hierbandits.cli.interruption import before_leaving
from hierbandits.cli.terminal import fail, need

BackendOption = Annotated[
    str,
    typer.Option(
        help="Who does the work: local (this machine), ray, dask or spark. The numbers are the "
        "same. A cluster is found as its own tools find it, or starts on this machine."
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        show_default=False, help="Processes of the local back end. All cores by default, as -1."
    ),
]


def need_backend(backend: str) -> None:
    """Fail before the work if there is no such back end, or its package is not installed."""
    from hierbandits.workers.backends import BACKENDS, ENGINES

    if backend not in BACKENDS:
        fail(f"--backend must be one of {', '.join(BACKENDS)}, got {backend!r}")
    if backend in ENGINES:
        need(ENGINES[backend].package, extra=ENGINES[backend].extra)


def needed_jobs(jobs: int | None, backend: str) -> int:
    """The number of processes, where the back end is there; a cluster has workers of its own."""
    from hierbandits.workers.backends import LOCAL

    need_backend(backend)
    if backend != LOCAL:
        if jobs not in (None, 1):
            fail(f"--jobs must not be given with --backend {backend}, got {jobs}")
        return 1
    if jobs != 1:
        need("joblib")
    return -1 if jobs is None else jobs


@contextmanager
def own_cluster(backend: str) -> Iterator[None]:
    """End the cluster that a command starts inside this block, also if Ctrl-C ends the command."""
    from hierbandits.workers.backends import LOCAL, end_own_cluster

    if backend == LOCAL:
        yield
        return
    kill = partial(end_own_cluster, backend, at_once=True)
    with before_leaving(kill):  # Ctrl-C may also come while the cluster ends
        try:
            with before_leaving(kill):
                yield
        finally:
            end_own_cluster(backend)
