"""Where commands find the data of a service: a folder, or a PostgreSQL database."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from hierbandits.cli.terminal import fail, failing, in_one_line, need

if TYPE_CHECKING:
    from hierbandits.service.data_place import DataPlace

SERVER = ("apsw", "msgspec", "prometheus_client", "starlette", "uvicorn")
"""What the service is made of; the extra `serve` brings it."""

DataOption = Annotated[
    Path | None, typer.Option("--data", help="The service's data folder; it may run meanwhile.")
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="HIERBANDITS_STORE",
        show_envvar=False,
        help="The service's PostgreSQL database, postgresql://USER@HOST/DATABASE. Safer is "
        "HIERBANDITS_STORE, which no list of processes shows.",
    ),
]


@contextmanager
def data_place(data: Path | None, store: str | None) -> "Iterator[DataPlace]":
    """The place that options name; with a store alone, its folder is deleted in the end."""
    need(*SERVER, extra="serve")
    if store is not None:
        need("psycopg", extra="serve,postgres")
        from hierbandits.service.store_url import StoreUrl

        with failing():
            StoreUrl(store)
    elif data is None:
        fail("--data must be given, a folder, or --store, a database")
    from hierbandits.service.data_place import DataPlace
    from hierbandits.service.storage import StorageFailed

    with TemporaryDirectory(prefix="hierbandits-") if data is None else nullcontext(data) as folder:
        try:
            yield DataPlace(Path(folder), store)
        except StorageFailed as error:
            fail(in_one_line(error))
