"""Tables on a terminal: cells are text, and long cells wrap."""

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from hierbandits.reporting.shown_name import printable, shown_cell

if TYPE_CHECKING:
    from rich.table import Table


def terminal_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int], title: str = ""
) -> "Table":
    """A table for rich to print, without lines; the columns at the places `right` hold numbers.

    Cells are shown as names are, and square brackets are nothing special in them.
    """
    from rich.table import Table
    from rich.text import Text

    heading = Text(printable(title), style="italic") if title else None
    table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(Text(shown_cell(column)), justify="right" if place in right else "left")
    for row in rows:
        table.add_row(*(Text(shown_cell(cell)) for cell in row))
    return table
