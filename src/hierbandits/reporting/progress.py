"""Progress of long work: a bar on the terminal, or calls of a function."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TypeAlias

from hierbandits.reporting.notebook_progress import NotebookLine, in_notebook

PATIENCE = 2.0  # seconds of work before a bar appears

Listener: TypeAlias = Callable[[int, int | None], object]
"""A function of the number of steps done and of all steps; None if that is not known."""

Progress: TypeAlias = bool | Listener | None
"""Who learns of progress: the terminal if there is one (None), the terminal in any case (True),
nobody (False), or a function."""


class Steps:
    """Counts the steps of some work, and calls a listener after each."""

    def __init__(self, total: int | None, listener: Listener | None = None) -> None:
        self.done, self.total = 0, total
        self._listener = listener

    def advance(self, steps: int = 1) -> None:
        """Count `steps` more."""
        self.update(self.done + steps, self.total)

    def update(self, done: int, total: int | None) -> None:
        """Set both numbers; this method is a listener itself."""
        self.done, self.total = done, total
        if self._listener is not None:
            self._listener(done, total)


@contextmanager
def progress_bar(description: str, total: int | None, progress: Progress) -> Iterator[Steps]:
    """The steps of the work inside the block.

    The bar appears after PATIENCE seconds, or at once if `progress` is True, and goes with the
    block.  In a notebook it is a line of text.
    """
    if callable(progress):
        yield Steps(total, progress)
        return
    if progress not in (None, True, False):
        raise ValueError(f"progress must be True, False, None or a function, got {progress!r:.80}")
    if progress is not False and in_notebook():
        line = NotebookLine(description, 0.0 if progress else PATIENCE)
        try:
            yield Steps(total, line.update)
        finally:
            line.close()
        return
    shown = sys.stderr.isatty() if progress is None else progress
    try:
        from rich.console import Console
        from rich.progress import Progress as RichProgress
        from rich.progress import TimeRemainingColumn
    except ImportError:
        shown = False
    if not shown:
        yield Steps(total)
        return
    columns = (*RichProgress.get_default_columns()[:-1], TimeRemainingColumn())
    bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(description, total=total)
    timer = Timer(0.0 if progress else PATIENCE, bar.start)
    timer.start()
    try:
        yield Steps(total, lambda done, total: bar.update(task, completed=done, total=total))
    finally:
        timer.cancel()
        timer.join()
        bar.stop()
