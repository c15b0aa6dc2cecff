"""What an encoder made of a log's contexts, as the page shows it."""

from hierbandits.learning.sections import Section
from hierbandits.logs import Encoder
from hierbandits.logs.context_column import ContextColumn, NumberColumn
from hierbandits.reporting.rounding import short_percents

SHOWN_VALUES = 8  # of a column of text


def context_section(encoder: Encoder) -> Section:
    """The columns of the context, and how to read the features' names."""
    label = encoder.columns[0].labels[0]
    name = f"{encoder.arm}={encoder.arms[0]}"
    return Section(
        name="context",
        heading="Who comes",
        columns=("column", "what it holds", "features of each arm"),
        rows=[
            (column.name, _holds(column), f"{len(column.labels):,}") for column in encoder.columns
        ],
        words=[
            f"Every arm has effects of its own, {encoder.width} each. “{name}” is what the arm "
            f"earns in the average context, and “{name} × {label}” how the context changes that: "
            "by one standard deviation of a number, or from the most frequent value of a text."
        ],
    )


def _holds(column: ContextColumn) -> str:
    if isinstance(column, NumberColumn):
        return f"numbers: mean {column.mean:.4g}, standard deviation {column.std:.4g}"
    pairs = list(zip(column.values, column.shares, strict=True))
    shown = [f"{value} {short_percents(share)} %" for value, share in pairs[:SHOWN_VALUES]]
    more = len(pairs) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
