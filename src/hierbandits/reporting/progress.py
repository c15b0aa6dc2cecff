"""A progress bar on the terminal, where there is one to see it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(
    description: str, total: int | None, shown: bool | None
) -> Iterator[Callable[[int], None]]:
    """A bar of `total` steps, or of nobody knows how many; yields the function that advances it.

    None shows it if the terminal can and rich is installed.
    """
    if shown is None:
        shown = sys.stderr.isatty()
    try:
        from rich.console import Console
        from rich.progress import Progress, TimeRemainingColumn
    except ImportError:
        shown = False
    if not shown:
        yield lambda steps: None
        return
    columns = (*Progress.get_default_columns()[:-1], TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda steps: bar.advance(task, steps)
