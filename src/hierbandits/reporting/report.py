"""A report: a folder of a page, figures, Parquet and JSON."""

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierbandits.atomic_write import atomic_write
from hierbandits.reporting.html_page import HtmlPage
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from rich.console import Console

_PACKAGES = ("hierbandits", "numpy", "scipy", "numba")


@dataclass(slots=True, eq=False)
class Report:
    """Collects results, and then writes them all into a folder."""

    experiment: str
    title: str
    settings: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)  # of summary.json
    _page: HtmlPage = field(init=False)
    _tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = field(default_factory=list)
    _figures: dict[str, tuple[Any, bytes]] = field(default_factory=dict)  # each with its PNG
    _frames: dict[str, Any] = field(default_factory=dict)
    _documents: dict[str, Any] = field(default_factory=dict)
    _others: dict[str, Callable[[Path], object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._page = HtmlPage(self.title)

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs to the page."""
        self._page.text(*paragraphs)

    def figure(self, name: str, figure: Any, caption: str) -> None:
        """Add a matplotlib figure to the page; it becomes a PNG and an SVG file too."""
        picture = BytesIO()
        figure.savefig(picture, format="png", dpi=130)
        self._figures[name] = figure, picture.getvalue()
        self._page.figure(picture.getvalue(), caption)

    @property
    def figures(self) -> list[str]:
        """The names of the figures."""
        return list(self._figures)

    def table(self, heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of text cells; all columns but the first are aligned to the right."""
        self._tables.append((heading, columns, rows))
        self._page.table(heading, columns, rows)

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

    def html(self) -> str:
        """The page."""
        return self._page.html(json.dumps(self.settings | {"versions": versions()}, indent=2))

    def show(self, console: "Console") -> None:
        """Print the tables to a terminal."""
        for heading, columns, rows in self._tables:
            numbers = range(1, len(columns))
            console.print(terminal_table(columns, rows, numbers, title=heading))
            console.print()

    def write(self, folder: str | Path) -> Path:
        """Write everything, and return where the page is.

        Files of an earlier report in this folder that this report does not have are removed.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        names = self._files()
        for name in _earlier_files(target) - set(names):
            (target / name).unlink(missing_ok=True)
        settings = self.settings | {"versions": versions(), "files": names}
        _write_json(target / "settings.json", settings)
        for name, (figure, picture) in self._figures.items():
            (target / f"{name}.png").write_bytes(picture)
            figure.savefig(target / f"{name}.svg")
        for name, frame in self._frames.items():
            frame.write_parquet(target / f"{name}.parquet")
        for name, content in self._documents.items():
            _write_json(target / f"{name}.json", content)
        for name, write in self._others.items():
            write(target / name)
        _write_json(target / "summary.json", self.rows)
        page = target / "report.html"
        _write_text(page, self.html())
        return page

    def _files(self) -> list[str]:
        """The names of all files of the report, sorted."""
        names = ["settings.json", "summary.json", "report.html"]
        names += [f"{name}.{kind}" for name in self._figures for kind in ("png", "svg")]
        names += [f"{name}.parquet" for name in self._frames]
        names += [f"{name}.json" for name in self._documents]
        names += self._others
        return sorted(names)


def versions() -> dict[str, str]:
    """The versions of what computed the numbers."""
    numbers = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            numbers[package] = version(package)
        except PackageNotFoundError:
            numbers[package] = "unknown"
    return numbers


def _earlier_files(folder: Path) -> set[str]:
    """The files of an earlier report: those in the folder that its settings.json names."""
    try:
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return set()
    names = settings.get("files") if isinstance(settings, dict) else None
    if not isinstance(names, list):
        return set()
    inside = {name for name in names if isinstance(name, str) and Path(name).name == name}
    return {name for name in inside if (folder / name).is_file()}


def _write_json(path: Path, content: Any) -> None:
    _write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
