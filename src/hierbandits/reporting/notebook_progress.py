"""Progress of long work in a notebook: one line of text that changes."""

import sys
import time
from typing import Any

EVERY = 0.2  # seconds from one line to the next


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class NotebookLine:
    """Shows how much is done in place of what it showed last, from `patience` seconds on."""

    def __init__(self, description: str, patience: float) -> None:
        self._description, self._next = description, time.monotonic() + patience
        self._handle: Any = None

    def update(self, done: int, total: int | None) -> None:
        """A listener: so many steps are done, of so many."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY
        share = f"{done:,}" if not total else f"{100 * done // total} % ({done:,} of {total:,})"
        self._put_line(f"{self._description}: {share}")

    def close(self) -> None:
        """Take the line away."""
        if self._handle is not None:
            self._put_line("")

    def _put_line(self, text: str) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)
