"""Tables as plain text."""

from collections.abc import Sequence

from hierbandits.reporting.shown_name import shown_name


def text_table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Lines of cells, aligned below the names of their columns, two spaces apart.

    The first `left` columns are aligned to the left.  The others hold numbers, and are aligned to
    the right.
    """
    lines = [[shown_name(cell) for cell in line] for line in (columns, *rows)]
    sizes = [max(len(cell) for cell in cells) for cells in zip(*lines, strict=True)]
    aligned = []
    for line in lines:
        cells = [
            cell.ljust(size) if place < left else cell.rjust(size)
            for place, (cell, size) in enumerate(zip(line, sizes, strict=True))
        ]
        aligned.append("  ".join(cells).rstrip())
    return "\n".join(aligned)
