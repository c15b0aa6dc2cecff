"""Progress of work that takes longer than one likes to wait: a bar, or a function that is told."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TypeAlias

PATIENCE = 2.0  # seconds without a bar

Listener: TypeAlias = Callable[[int, int | None], object]
"""Told how many steps are done, and of how many; None if that is not known."""

Progress: TypeAlias = bool | Listener | None
"""Who hears of it: None, the terminal if there is one; True, the terminal in any case; False,
nobody; or a function."""


class Steps:
    """Counts the steps of some work, and tells a listener."""

    def __init__(self, total: int | None, listener: Listener | None = None) -> None:
        self.done, self.total = 0, total
        self._listener = listener

    def advance(self, steps: int = 1) -> None:
        """So many steps more are done."""
        self.update(self.done + steps, self.total)

    def update(self, done: int, total: int | None) -> None:
        """So many steps are done in all; a listener itself."""
        self.done, self.total = done, total
        if self._listener is not None:
            self._listener(done, total)


@contextmanager
def progress_bar(description: str, total: int | None, progress: Progress) -> Iterator[Steps]:
    """The steps of the work inside the block, shown or told as `progress` says."""
    if callable(progress):
        yield Steps(total, progress)
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
