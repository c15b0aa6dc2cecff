"""How commands reach policies: those of a running service, or those of a folder that none uses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hierbandits.atomic_write import atomic_write
from hierbandits.cli.data_options import SERVER
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.terminal import fail, failing, in_one_line, need

if TYPE_CHECKING:
    from hierbandits import AsyncClient

T = TypeVar("T")

UrlOption = Annotated[
    str | None,
    typer.Option(help="A running service; HIERBANDITS_URL, or http://127.0.0.1:8080, by default."),
]
TokenOption = Annotated[
    str | None,
    typer.Option(help="Its token. Safer is HIERBANDITS_TOKEN, which no list of processes shows."),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--data", help="A data folder that no service uses now, in place of --url."),
]


def ask(
    url: str | None,
    token: str | None,
    data: Path | None,
    question: "Callable[[AsyncClient], Awaitable[T]]",
) -> T:
    """What a service, or a folder, answers; an error is one line."""
    need("httpx", extra="client")
    from hierbandits.client import ServiceError

    if data is not None:
        if url is not None or token is not None:
            fail("--data must be given without --url and --token")
        if not data.is_dir():
            fail(f"--data must be a folder, got {data}")
        need(*SERVER, extra="serve")

    async def answer() -> T:
        async with _client(url, token, data) as client:
            return await question(client)

    with stopped_at_once():
        try:
            return asyncio.run(answer())
        except (ServiceError, ValueError, LookupError, OSError, RuntimeError) as error:
            fail(in_one_line(error))


def write_new(out: Path, content: Callable[[], bytes]) -> None:
    """Write a file that is not there yet, whole or not at all."""
    if out.exists():
        fail(f"--out must be a new file, got {out}, which is there")
    with failing():
        data = content()
        with atomic_write(out) as file:
            file.write(data)


@asynccontextmanager
async def _client(
    url: str | None, token: str | None, data: Path | None
) -> "AsyncIterator[AsyncClient]":
    from hierbandits import AsyncClient

    if data is None:
        async with AsyncClient(url, token=token, timeout=60.0) as client:
            yield client
        return
    from httpx import ASGITransport

    from hierbandits.service.service import Service
    from hierbandits.service.service_app import service_app

    web = service_app(Service(data, needs_tokens=False))
    async with (
        web.lifespan_context(web),
        AsyncClient("http://folder", timeout=3600.0, transport=ASGITransport(web)) as client,
    ):
        yield client
