"""Operations that move policies as files, as workers serve them that share a store."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from starlette.responses import Response

from hierbandits.service.api_problem import Problem, bad_request
from hierbandits.service.archive_operations import ZIP, download, read_archive
from hierbandits.service.operation import Call, Handler
from hierbandits.service.policy_book import check_name
from hierbandits.service.shared_export import RolloutGoesOn, write_shared
from hierbandits.service.shared_import import import_shared
from hierbandits.service.wire import VersionReply

if TYPE_CHECKING:
    from hierbandits.service.shared_service import SharedService


class SharedArchiveOperations:
    """Handlers of one worker."""

    def __init__(self, service: "SharedService") -> None:
        self._service, self._links = service, service.links

    async def export_policy(self, call: Call) -> Response:
        """A policy with its log, as one file."""
        record = await asyncio.to_thread(self._service.book.record, call.policy)
        file: IO[bytes] = tempfile.TemporaryFile(dir=self._service.folder)  # noqa: SIM115
        try:
            await asyncio.to_thread(write_shared, record, self._links, file)
        except BaseException as error:
            file.close()
            if isinstance(error, RolloutGoesOn):
                raise Problem(409, "rollout", str(error)) from error
            raise
        return download(file, f"{call.policy}.policy", ZIP)

    async def import_policy(self, call: Call) -> VersionReply:
        """Create a policy from such a file, or from an agent's."""
        check_name(call.policy)
        with tempfile.TemporaryDirectory(dir=self._service.folder) as folder:
            path = Path(folder) / "archive"
            archive = await asyncio.to_thread(read_archive, call.body, path)
            call.body = None  # it is in the file
            try:
                version = await asyncio.to_thread(import_shared, self._links, call.policy, archive)
            except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
                raise bad_request(str(error)) from error
        self._service.book.forget(call.policy)  # one that was deleted
        return VersionReply(call.policy, version, True)


def handlers(service: "SharedService") -> Mapping[str, Handler]:
    """The handlers of a worker, by the names of operations."""
    own = SharedArchiveOperations(service)
    return {one.__name__: one for one in (own.export_policy, own.import_policy)}
