"""Asks another process about ledgers, one question at a time, and starts it when it is needed."""

import asyncio
from typing import Any

import msgspec

from hierbandits.service.api_problem import unavailable
from hierbandits.service.child_process import ChildProcess
from hierbandits.service.data_place import DataPlace

PATIENCE = 120.0
"""Seconds after which an answer is given up, and the process with it."""

IDLE = 300.0
"""Seconds without a question after which the process is let go."""


class LedgerDesk:
    """The questions that pages ask about a folder; see `reader_process`.

    `module` is what runs in the process.
    """

    def __init__(
        self,
        place: DataPlace,
        patience: float = PATIENCE,
        idle: float = IDLE,
        module: str = "hierbandits.service.reader_process",
    ) -> None:
        self._place, self._patience, self._idle = place, patience, idle
        self._module = module
        self._process: ChildProcess | None = None
        self._turn = asyncio.Lock()
        self._last = 0.0

    async def ask(self, question: dict[str, Any]) -> Any:
        """The answer to a question; a Problem if none comes."""
        async with self._turn:
            process = await self._running()
            try:
                await process.send(msgspec.json.encode(question) + b"\n")
                line = await asyncio.wait_for(process.told.readline(), self._patience)
                answer = msgspec.json.decode(line)
            except (TimeoutError, OSError, ValueError) as error:
                await self._end()
                raise unavailable("the ledger cannot be read now") from error
            except asyncio.CancelledError:  # its answer must not be taken for another's
                await self._end()
                raise
            self._last = asyncio.get_running_loop().time()
        if "error" in answer:
            raise unavailable(f"the ledger cannot be read now: {answer['error']}")
        return answer["answer"]

    async def _running(self) -> ChildProcess:
        if self._process is None or self._process.is_over:
            self._process = await ChildProcess.start(
                self._module, str(self._place.folder),
                is_asked=True, env=self._place.environment(),
            )  # fmt: skip
        return self._process

    async def rest(self) -> None:
        """Let the process go if nobody has asked for long."""
        now = asyncio.get_running_loop().time()
        if self._process is not None and now - self._last > self._idle and not self._turn.locked():
            await self.close()

    async def close(self) -> None:
        """Let the process go, and wait for a question that is under way."""
        async with self._turn:
            await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.end()
