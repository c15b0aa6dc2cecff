"""A process beside the service, started without a copy of the service's memory."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

_LONGEST = 64 << 20  # bytes of a line that it tells
_PAUSE = 0.02  # seconds between looks whether it has ended


class ChildProcess:
    """Runs a module of the package; what it tells is read in the event loop.

    An event loop may copy the service's memory to start a process, as uvloop does: requests wait
    tens of milliseconds then.  Here the new process has memory of its own from the beginning.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._pipes: list[asyncio.BaseTransport] = []
        self.told = asyncio.StreamReader(_LONGEST)
        self.errors = asyncio.StreamReader(_LONGEST)

    @classmethod
    async def start(
        cls,
        module: str,
        *words: str,
        env: Mapping[str, str] | None = None,
        is_asked: bool = False,
        keeps_errors: bool = False,
    ) -> "ChildProcess":
        """Start it; one that `is_asked` hears what is `sent`, and its answers are `told`.

        Its errors are read too if they are kept; else they go where those of the service go.
        """
        process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            stdin=subprocess.PIPE if is_asked else subprocess.DEVNULL,
            stdout=subprocess.PIPE if is_asked else subprocess.DEVNULL,
            stderr=subprocess.PIPE if keeps_errors else None,
            # An interrupt at the terminal is for the service to handle.  But the session is the
            # same: the processor is shared among sessions first, whatever the priorities in each.
            process_group=0,
            env=env,
        )
        child = cls(process)
        try:
            await child.listen()
        except BaseException:
            await child.end()
            raise
        return child

    async def listen(self) -> None:
        """Read what it tells, from now on."""
        loop, process = asyncio.get_running_loop(), self._process
        for pipe, reader in ((process.stdout, self.told), (process.stderr, self.errors)):
            if pipe is not None:
                protocol = partial(asyncio.StreamReaderProtocol, reader)
                transport, _ = await loop.connect_read_pipe(protocol, pipe)
                self._pipes.append(transport)

    @property
    def pid(self) -> int:
        """Its number among the processes of the machine."""
        return self._process.pid

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    async def send(self, data: bytes) -> None:
        """Let it hear something."""
        pipe = self._process.stdin
        assert pipe is not None

        def write() -> None:
            pipe.write(data)
            pipe.flush()

        await asyncio.to_thread(write)  # a large order waits until it is read

    async def wait(self) -> int:
        """Wait until it has ended; the code that it ends with."""
        while not self.is_over:
            await asyncio.sleep(_PAUSE)
        self._close()
        return self._process.returncode

    async def end(self) -> None:
        """Kill it, unless it has ended."""
        self._process.kill()
        await self.wait()

    def _close(self) -> None:
        for transport in self._pipes:
            transport.close()
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # it ended before it heard all
                self._process.stdin.close()
