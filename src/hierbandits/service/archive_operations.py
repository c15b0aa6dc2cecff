"""Operations that move policies, logs and whole folders as files."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

from starlette.responses import Response, StreamingResponse

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.folder_backup import backup_folder
from hierbandits.service.log_export import write_log
from hierbandits.service.operation import Call, Operation
from hierbandits.service.policy_archive import PolicyArchive, read_policy, write_policy
from hierbandits.service.storage import NotOurs
from hierbandits.service.wire import VersionReply

LARGEST_ARCHIVE = 256 << 20
"""The most bytes of a policy that is sent; the command line takes larger files."""

_CHUNK = 1 << 16
PARQUET, ZIP = "application/vnd.apache.parquet", "application/zip"


async def _export(call: Call) -> Response:
    record, storage = call.service.book.record(call.policy), call.service.storage
    file: IO[bytes] = tempfile.TemporaryFile(dir=call.service.folder)  # noqa: SIM115
    async with call.service.book.changing(call.policy):  # nobody deletes a task meanwhile
        await asyncio.to_thread(write_policy, record, storage, file)
    return download(file, f"{call.policy}.policy", ZIP)


async def _import(call: Call) -> VersionReply:
    with tempfile.TemporaryDirectory(dir=call.service.folder) as folder:
        path = Path(folder) / "archive"
        archive = await asyncio.to_thread(read_archive, call.body, path)
        call.body = None  # it is in the file
        turns = await call.service.book.adopt(call.policy, archive, call.who)
    return VersionReply(call.policy, turns.live.version, True)


def read_archive(data: bytes, path: Path) -> PolicyArchive:
    """The policy in a body, which is written to a file; a Problem if there is none."""
    path.write_bytes(data)
    try:
        return read_policy(path)
    except ValueError as error:
        raise bad_request(str(error)) from error


async def _log(call: Call) -> Response:
    record, storage = call.service.book.record(call.policy), call.service.storage
    return await log_reply(call, partial(write_log, record, storage))


async def log_reply(call: Call, write: Callable[..., int]) -> Response:
    """A log as a reply: `write(path, every=...)` writes it to a file."""
    every = call.query.get("every", "false")
    if every not in ("true", "false"):
        raise bad_request(f"every must be true or false, got {every!r:.80}")
    with tempfile.TemporaryDirectory(dir=call.host.folder) as folder:
        path = Path(folder) / "log.parquet"
        try:
            await asyncio.to_thread(write, path, every=every == "true")
        except ValueError as error:
            raise Problem(409, "names_alike", str(error)) from error
        file = open(path, "rb")  # noqa: SIM115  it is read on when its name is gone
    return download(file, f"{call.policy}.parquet", PARQUET)


def download(file: IO[bytes], name: str, media: str) -> Response:
    """A file as a reply, bit by bit."""

    def chunks() -> Iterator[bytes]:
        with file:
            file.seek(0)
            while data := file.read(_CHUNK):
                yield data

    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chunks(), media_type=media, headers=headers)


async def _backup(call: Call) -> dict[str, Any]:
    if call.token is not None and call.token.policies is not None:
        raise Problem(403, "forbidden", "the token must be good for all policies")
    service = call.service
    try:
        made = await asyncio.to_thread(
            backup_folder, service.folder, service.storage, service.clock()
        )
    except ValueError as error:
        raise Problem(409, "too_soon", str(error), retry_after=1.0) from error
    except NotOurs as error:
        raise Problem(409, "not_ours", str(error)) from error
    size = sum(path.stat().st_size for path in made.iterdir())
    return {"folder": str(made), "bytes": size}


OPERATIONS = [
    Operation(
        "export_policy", "GET", "/policies/{policy}/export", "admin", _export,
        "A policy with its log, as one file.", None, bytes, media=ZIP,
    ),
    Operation(
        "import_policy", "POST", "/policies/{policy}/import", "admin", _import,
        "Create a policy from such a file, or from an agent's.", bytes, VersionReply,
        most_bytes=LARGEST_ARCHIVE,
    ),
    Operation(
        "export_log", "GET", "/policies/{policy}/log", "read", _log,
        "The rewarded decisions as Parquet; all of them with ?every=true.", None, bytes,
        media=PARQUET, query={"every": {"type": "boolean"}},
    ),
    Operation(
        "backup", "POST", "/backup", "admin", _backup,
        "Copy the data folder while it is served.", None, dict[str, Any],
    ),
]  # fmt: skip
