"""The folder that an experiment leaves: figures, results, settings, and a page to read."""

import base64
import html
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from math import floor, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

SUMMARY_KEYS = ("experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs")
"""Every row of summary.json has these, and mean and standard_error of the final regret."""


@dataclass(slots=True, eq=False)
class Report:
    """Collects an experiment's results and writes them all."""

    experiment: str
    title: str
    settings: dict[str, Any]
    rows: list[dict[str, Any]] = field(default_factory=list)
    _sections: list[str] = field(default_factory=list)
    _tables: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = field(default_factory=list)
    _figures: dict[str, tuple[Any, bytes]] = field(default_factory=dict)  # with their PNG
    _frames: dict[str, Any] = field(default_factory=dict)
    _documents: dict[str, Any] = field(default_factory=dict)

    def text(self, *paragraphs: str) -> None:
        """Paragraphs of the page."""
        self._sections += [f"<p>{html.escape(paragraph)}</p>" for paragraph in paragraphs]

    def figure(self, name: str, figure: Any, caption: str) -> None:
        """A matplotlib figure: a PNG and an SVG file, and in the page."""
        picture = BytesIO()
        figure.savefig(picture, format="png", dpi=130)
        self._figures[name] = figure, picture.getvalue()
        data = base64.b64encode(picture.getvalue()).decode()
        alt = html.escape(caption)
        self._sections.append(
            f'<figure><img alt="{alt}" src="data:image/png;base64,{data}">'
            f"<figcaption>{alt}</figcaption></figure>"
        )

    @property
    def figures(self) -> list[str]:
        """The names of the figures, which are PNG and SVG files once written."""
        return list(self._figures)

    def table(self, heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table of the page; cells are text, right-aligned but for the first."""
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        self._tables.append((heading, columns, rows))
        self._sections.append(
            f"<h2>{html.escape(heading)}</h2>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def frame(self, name: str, frame: Any) -> None:
        """A polars frame, written as Parquet."""
        self._frames[name] = frame

    def document(self, name: str, content: Any) -> None:
        """Plain data, written as JSON."""
        self._documents[name] = content

    def row(self, *, panel: str, policy: str, runs: int, **values: Any) -> None:
        """A row of summary.json; what a panel does not vary or state is None."""
        row = dict.fromkeys(SUMMARY_KEYS)
        row |= {"experiment": self.experiment, "panel": panel, "policy": policy, "runs": runs}
        self.rows.append(row | values)

    def show(self, console: "Console") -> None:
        """Print the tables to a terminal."""
        from rich.table import Table

        for heading, columns, rows in self._tables:
            table = Table(title=heading, title_justify="left", box=None, pad_edge=False)
            for place, column in enumerate(columns):
                table.add_column(column, justify="right" if place else "left")
            for row in rows:
                table.add_row(*row)
            console.print(table, markup=False)
            console.print()

    def write(self, folder: str | Path) -> Path:
        """Write everything; returns the page.

        Files of an earlier report in this folder that this one does not have are removed.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        names = ["settings.json", "summary.json", "report.html"]
        names += [f"{name}.{kind}" for name in self._figures for kind in ("png", "svg")]
        names += [f"{name}.parquet" for name in self._frames]
        names += [f"{name}.json" for name in self._documents]
        for name in _earlier_files(target) - set(names):
            (target / name).unlink(missing_ok=True)
        settings = self.settings | {"versions": versions(), "files": sorted(names)}
        _write_json(target / "settings.json", settings)
        for name, (figure, picture) in self._figures.items():
            (target / f"{name}.png").write_bytes(picture)
            figure.savefig(target / f"{name}.svg")
        for name, frame in self._frames.items():
            frame.write_parquet(target / f"{name}.parquet")
        for name, content in self._documents.items():
            _write_json(target / f"{name}.json", content)
        _write_json(target / "summary.json", self.rows)
        page = target / "report.html"
        page.write_text(self._page(), encoding="utf-8")
        return page

    def _page(self) -> str:
        settings = json.dumps(self.settings | {"versions": versions()}, indent=2)
        return _PAGE.format(
            title=html.escape(self.title),
            body="\n".join(self._sections),
            settings=html.escape(settings),
        )


def to_its_error(value: float, error: float, least: int = 3) -> str:
    """A number down to the second digit of its error, in at least `least` digits."""
    digits = least
    if value != 0 and error > 0 and isfinite(value / error):
        digits = floor(log10(abs(value))) - floor(log10(error)) + 2
        digits = min(max(digits, least), 15)
    return f"{value:.{digits}g}"


def versions() -> Mapping[str, str]:
    """What the numbers were computed with."""
    found = {"python": platform.python_version()}
    for package in ("hierbandits", "numpy", "scipy", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def _earlier_files(folder: Path) -> set[str]:
    """The files that settings.json says an earlier report wrote, of those inside the folder."""
    try:
        names = json.loads((folder / "settings.json").read_text(encoding="utf-8"))["files"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()
    plain = {name for name in names if isinstance(name, str) and Path(name).name == name}
    return {name for name in plain if (folder / name).is_file()}


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; }}
h1 {{ font-size: 1.6rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
figure {{ margin: 1.5rem 0; }} img {{ max-width: 100%; }}
figcaption {{ color: #555; font-size: .9rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .9rem; border-bottom: 1px solid #ddd; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; white-space: nowrap; }}
details {{ margin: 2rem 0; }}
pre {{ background: #f6f6f6; padding: 1rem; overflow: auto; font-size: .85rem; }}
</style></head><body>
<h1>{title}</h1>
{body}
<details><summary>Settings and versions</summary><pre>{settings}</pre></details>
</body></html>
"""
