"""What a notebook shows of an object: a line, some paragraphs and small tables."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias

from hierbandits.reporting.html_page import HtmlPage
from hierbandits.reporting.shown_name import MOST_IN_CELL, shown_name

Table: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A heading, the names of columns, and rows of text cells."""

MOST_ROWS = 20
"""Rows of a table that a notebook shows."""


def notebook_card(line: str, paragraphs: Iterable[str] = (), tables: Iterable[Table] = ()) -> str:
    """A piece of HTML that begins with a line of text; of long tables it has the first rows."""
    page = HtmlPage("", heading="h4")
    page.text(*paragraphs)
    for heading, columns, rows in tables:
        page.table(heading, columns, rows[:MOST_ROWS])
        if len(rows) > MOST_ROWS:
            page.text(f"... and {len(rows) - MOST_ROWS:,} rows more")
    first = escape(shown_name(line, MOST_IN_CELL))
    return f"<div><p><code>{first}</code></p>{page.body()}</div>"


def notebook_frame(html: str) -> str:
    """A whole page inside a notebook, whose look it leaves alone."""
    return (
        f'<iframe srcdoc="{escape(html)}" sandbox="" '
        'style="width: 100%; height: 40rem; border: 1px solid #ddd"></iframe>'
    )
