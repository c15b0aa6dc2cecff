"""A log of many Parquet files, part by part, each of which any worker can read."""

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from hierbandits.logs.sources import num_rows, some_files

if TYPE_CHECKING:
    from hierbandits.logs.log import Log

MOST_PARTS = 256
"""Parts of a log; where there are more files, several that follow each other are a part.

Sums depend on it in their last digits, so it is fixed for any number of workers.
"""


def parts_of(log: "Log") -> "list[Log]":
    """The parts of a log, whose rows have the numbers that they have in it.

    Text files are one part, since nobody knows their rows before they are read.  So is a log whose
    decision ids must differ, since only all rows together tell whether they do.
    """
    number = len(log.files)
    checked = log.columns.decision is not None and not log.reading.drop_repeated
    if number < 2 or log.is_text or checked:
        return [log]
    count = min(number, MOST_PARTS)
    ends = [number * place // count for place in range(count + 1)]
    parts, first_row = [], 0
    for first, last in pairwise(ends):
        source = some_files(log.source, log.files, first, last)
        parts.append(replace(log, source=source, files=log.files[first:last], first_row=first_row))
        first_row += num_rows(source)
    return parts
