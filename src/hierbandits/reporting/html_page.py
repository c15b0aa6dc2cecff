"""A page to read: one HTML file that needs no other."""

import base64
from collections.abc import Sequence
from html import escape

from hierbandits.reporting.shown_name import printable, shown_cell


class HtmlPage:
    """Collects paragraphs, figures and tables, and shows them in that order."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        self._parts += [f"<p>{escape(printable(paragraph))}</p>" for paragraph in paragraphs]

    def figure(self, picture: bytes, caption: str) -> None:
        """Add a picture, a PNG file's bytes."""
        data = base64.b64encode(picture).decode()
        caption = escape(caption)
        self._parts.append(
            f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )

    def table(self, heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of text cells."""
        body = "".join(_row("td", row) for row in rows)
        self._parts.append(
            f"<h2>{escape(printable(heading))}</h2>"
            f"<table><thead>{_row('th', columns)}</thead><tbody>{body}</tbody></table>"
        )

    def html(self, details: str) -> str:
        """The whole page; `details` is a text at its end, folded up."""
        return _PAGE.format(
            title=escape(self.title),
            body="\n".join(self._parts),
            details=escape(details),
        )


def _row(kind: str, cells: Sequence[str]) -> str:
    inner = "".join(f"<{kind}>{escape(shown_cell(cell))}</{kind}>" for cell in cells)
    return f"<tr>{inner}</tr>"


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
<details><summary>Settings and versions</summary><pre>{details}</pre></details>
</body></html>
"""
