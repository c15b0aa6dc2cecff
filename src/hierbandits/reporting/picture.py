"""A figure that shows itself: in a notebook, or in a file."""

import os
from dataclasses import dataclass
from io import BytesIO
from os import PathLike
from typing import Any

from hierbandits.atomic_write import atomic_write
from hierbandits.checks import file_path
from hierbandits.reporting.shown_name import shown_name

FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 130


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Picture:
    """A matplotlib figure and its caption; a notebook shows it without any setting."""

    figure: Any
    caption: str = ""

    def drawn(self, form: str = "png") -> bytes:
        """The bytes of a file of this format, one of FORMATS."""
        if form not in FORMATS:
            raise ValueError(f"form must be one of {', '.join(FORMATS)}, got {form!r}")
        file = BytesIO()
        self.figure.savefig(file, format=form, dpi=DOTS_PER_INCH)
        return file.getvalue()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the figure to a file, in the format that its name ends in."""
        form = os.fspath(file_path("path", path)).rpartition(".")[2].lower()
        if form not in FORMATS:
            ends = ", ".join(f".{one}" for one in FORMATS)
            raise ValueError(f"path must end in one of {ends}, got {path!s:.80}")
        content = self.drawn(form)
        with atomic_write(path) as file:
            file.write(content)

    def _repr_png_(self) -> bytes:
        return self.drawn()

    def __repr__(self) -> str:
        return f"<Picture: {shown_name(self.caption)}>" if self.caption else "<Picture>"
