"""Rewards that are kept on the disk until the service has them."""

import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from hierbandits.client.client_errors import ServiceError, Unavailable
from hierbandits.client.client_replies import RewardReceipt
from hierbandits.client.reward_file import Reward, RewardFile

Send: TypeAlias = Callable[[str, Sequence[Reward]], list[RewardReceipt | ServiceError]]

MOST_AT_ONCE = 1000
LONGEST_ID = 1000
_LONGEST_WAIT = 30.0
_LOGGER = logging.getLogger("hierbandits.client")


class RewardBuffer:
    """Takes rewards at once, and sends them in the background.

    `add` returns when the reward is on the disk.  A thread sends what is there in batches, and
    tries again while the service is away.  If the process dies, a new buffer of the same file sends
    what is left; a reward that is sent twice counts once.  A reward that the service refuses for
    good, since another value came first, say, goes to the file `path` + ".refused" with the
    service's words.
    """

    def __init__(self, path: str | PathLike[str], policy: str, send: Send) -> None:
        self._file = RewardFile(path, policy)
        self._refused = Path(f"{os.fspath(path)}.refused").absolute()
        self._policy, self._send = policy, send
        self._wake = threading.Condition()
        self._is_closing = False
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="rewards", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        """How many rewards the service does not have yet."""
        return len(self._file)

    @property
    def error(self) -> Exception | None:
        """Why the last batch could not be sent; None if it could."""
        return self._error

    def add(self, id: str, value: float) -> None:
        """Keep the reward of a decision; it is on the disk when this returns."""
        if not isinstance(id, str) or not 0 < len(id) <= LONGEST_ID:
            raise ValueError(f"id must be that of a decision, got {id!r:.80}")
        if isinstance(value, bool) or not hasattr(value, "__float__") or not math.isfinite(value):
            raise ValueError(f"value must be a finite number, got {value!r:.80}")
        self._file.add((id, float(value)))
        with self._wake:
            self._wake.notify_all()

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until the service has all rewards; False if it does not within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._wake:
            while self._file and (left := deadline - time.monotonic()) > 0:
                if not self._thread.is_alive():
                    break
                self._wake.wait(min(left, 0.5))
        return not self._file

    def close(self, timeout: float = 5.0) -> bool:
        """Send what can be sent within `timeout` seconds, and stop; the rest stays in the file."""
        done = self.flush(timeout)
        with self._wake:
            self._is_closing = True
            self._wake.notify_all()
        self._thread.join()
        self._file.close()
        return done

    def __enter__(self) -> "RewardBuffer":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run(self) -> None:
        """Send batches until the buffer is closed."""
        failures = 0
        while True:
            with self._wake:
                while not self._file and not self._is_closing:
                    self._wake.wait()
                if self._is_closing:
                    return
            rows = self._file.first(MOST_AT_ONCE)
            try:
                done = self._sent(rows)
            except Exception as error:  # whatever it is, nobody else would try again
                done, self._error = 0, error
                if failures == 0:
                    _LOGGER.warning("rewards wait in the buffer: %s", error)
            else:
                self._error = None
            failures = 0 if done else failures + 1
            with self._wake:
                self._wake.notify_all()
                if failures and not self._is_closing:
                    self._wait(min(0.1 * 2.0 ** min(failures, 20), _LONGEST_WAIT))

    def _wait(self, seconds: float) -> None:
        """Wait, unless the buffer is closed; new rewards are no reason to try sooner."""
        deadline = time.monotonic() + seconds
        while not self._is_closing and (left := deadline - time.monotonic()) > 0:
            self._wake.wait(left)

    def _sent(self, rows: list[Reward]) -> int:
        """Send rewards; returns how many of the first ones are settled."""
        outcomes = self._send(self._policy, rows)
        if len(outcomes) != len(rows):
            raise ServiceError(f"the reply must be about {len(rows)} rewards, got {len(outcomes)}")
        later = [isinstance(outcome, Unavailable) for outcome in outcomes]
        done = later.index(True) if any(later) else len(rows)
        refused = [
            (row, outcome)
            for row, outcome in zip(rows[:done], outcomes[:done], strict=True)
            if isinstance(outcome, ServiceError)
        ]
        if refused:
            self._keep_refused(refused)
        if done:
            self._file.settle(done)
        return done

    def _keep_refused(self, refused: list[tuple[Reward, ServiceError]]) -> None:
        """Write down what the service will never take, before it is forgotten here."""
        number = os.open(self._refused, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        with os.fdopen(number, "ab") as file:
            for (id, value), error in refused:
                parts = {"id": id, "value": value, "code": error.code, "detail": error.detail}
                file.write(json.dumps(parts).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        _LOGGER.warning("%d rewards are refused: see %s", len(refused), self._refused)
