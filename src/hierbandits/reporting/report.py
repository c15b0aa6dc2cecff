"""A report: a folder of a page, figures, Parquet and JSON."""

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hierbandits.reporting.figure_text import prepare_text
from hierbandits.reporting.html_page import HtmlPage
from hierbandits.reporting.notebook_card import notebook_frame
from hierbandits.reporting.picture import Picture
from hierbandits.reporting.plain_data import plain
from hierbandits.reporting.provenance import origin_lines, time_text
from hierbandits.reporting.report_folder import ReportFolder, as_json
from hierbandits.reporting.shown_name import shown_name
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from rich.console import Console

_PACKAGES = ("hierbandits", "numpy", "scipy", "numba")


@dataclass(slots=True, eq=False, repr=False)
class Report:
    """Collects results, and then writes them all into a folder.

    A page opens with its `answer`.  Its foot and settings.json say what it was made from: see
    `provenance` for the settings that they read.
    """

    experiment: str
    title: str
    settings: dict[str, Any]  # kept as a copy
    rows: list[dict[str, Any]] = field(default_factory=list)  # of summary.json
    made: str = field(default_factory=lambda: time_text(datetime.now(UTC)))
    _page: HtmlPage = field(init=False)
    _tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = field(default_factory=list)
    _figures: dict[str, Picture] = field(default_factory=dict)
    _frames: dict[str, Any] = field(default_factory=dict)
    _documents: dict[str, Any] = field(default_factory=dict)
    _others: dict[str, Callable[[Path], object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = dict(self.settings)
        self._page = HtmlPage(self.title)

    def answer(self, sentence: str, certainty: str) -> None:
        """Say first what the page finds, in one sentence, and how sure that is."""
        self._page.answer(sentence, certainty)

    def heading(self, text: str) -> None:
        """Begin a section of the page."""
        self._page.heading(text)

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs to the page."""
        self._page.text(*paragraphs)

    def figure(self, name: str, figure: Any, caption: str) -> None:
        """Add a matplotlib figure to the page; it becomes a PNG and an SVG file too.

        The caption says what the figure shows.  If there is no font for some of the figure's
        names, the figure has numbers in their place, and a sentence says which.
        """
        note = prepare_text(figure)
        caption = f"{caption} {note}" if note else caption
        self._figures[name] = picture = Picture(figure, caption)
        self._page.figure(picture.drawn(), caption, figure.get_size_inches()[0])

    @property
    def figures(self) -> list[str]:
        """The names of the figures."""
        return list(self._figures)

    def table(self, heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of text cells; all columns but the first are aligned to the right.

        An empty heading adds none.
        """
        self._tables.append((heading, columns, rows))
        self._page.table(heading, columns, rows)

    def insert(self, html: str) -> None:
        """Add a part that is HTML already, safe as it is, to the page."""
        self._page.insert(html)

    def frame(self, name: str, frame: Any) -> None:
        """Add a polars frame, to be written as Parquet."""
        self._frames[name] = frame

    def document(self, name: str, content: Any) -> None:
        """Add plain data, to be written as JSON."""
        self._documents[name] = content

    def file(self, name: str, write: Callable[[Path], object]) -> None:
        """Add a file of any other form, which a function of its path writes."""
        self._others[name] = write

    def row(self, **values: Any) -> None:
        """Add a row to summary.json."""
        self.rows.append(values)

    @property
    def pictures(self) -> dict[str, Picture]:
        """The figures by name; a notebook shows them."""
        return dict(self._figures)

    def _repr_html_(self) -> str:
        return notebook_frame(self.html())

    def __repr__(self) -> str:
        sizes = f"{len(self._figures)} figures, {len(self._tables)} tables"
        return f"<Report {self.experiment!r}: {shown_name(self.title)}; {sizes}>"

    def html(self) -> str:
        """The page."""
        settings = self._all_settings()
        lines = origin_lines(settings, self.made, settings["versions"])
        return self._page.html(lines, json.dumps(settings, indent=2))

    def show(self, console: "Console") -> None:
        """Print the tables to a terminal."""
        for heading, columns, rows in self._tables:
            numbers = range(1, len(columns))
            console.print(terminal_table(columns, rows, numbers, title=heading))
            console.print()

    def write(self, folder: str | Path) -> Path:
        """Write everything, and return where the page is.

        Files of an earlier report in this folder that this report does not have are removed.  Files
        of others are refused where they are in the way, and left alone elsewhere.
        """
        target = ReportFolder(folder)
        contents: dict[str, bytes] = {}
        for name, picture in self._figures.items():
            contents |= {f"{name}.{form}": picture.drawn(form) for form in ("png", "svg")}
        for name, frame in self._frames.items():
            contents[f"{name}.parquet"] = _written(frame.write_parquet)
        for name, content in self._documents.items():
            contents[f"{name}.json"] = as_json(content)
        with TemporaryDirectory() as aside:
            for name, write in self._others.items():
                write(Path(aside) / name)
                contents[name] = (Path(aside) / name).read_bytes()
        contents["summary.json"] = as_json(plain(self.rows))
        contents["report.html"] = self.html().encode()
        target.write(self._all_settings(), contents)
        return target.path / "report.html"

    def _all_settings(self) -> dict[str, Any]:
        return self.settings | {"made": self.made, "versions": versions()}


def _written(write: Callable[[BytesIO], object]) -> bytes:
    """The bytes that a function writes to a file."""
    file = BytesIO()
    write(file)
    return file.getvalue()


def versions() -> dict[str, str]:
    """The versions of what computed the numbers."""
    numbers = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            numbers[package] = "unknown"
    return numbers
