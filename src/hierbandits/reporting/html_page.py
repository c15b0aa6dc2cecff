"""A page to read: one HTML file that needs no other."""

import base64
import re
from collections.abc import Container, Sequence
from html import escape

from hierbandits.reporting.page_style import STYLE
from hierbandits.reporting.shown_name import printable, shown_cell

_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_RIGHT_TO_LEFT_RUN = re.compile(
    f"[{_RIGHT_TO_LEFT}](?:[^{_RIGHT_TO_LEFT}A-Za-z0-9&<>;,.]*[{_RIGHT_TO_LEFT}])*"
)

_NUMBERS = re.compile(r"[-+±–]?\d[-+±–\d.,e%() ]*(to [-\d.,e]+\)?)?")
_FEW = 10  # columns
_WIDE = ' class="wide"'  # a table that is small on paper
_SHORT = 16  # letters of a cell
_WHOLE, _WORDS = "n", "w"  # a cell that stays on one line, and one of a column of sentences
_SENTENCE = 40  # letters of a cell


class HtmlPage:
    """Opens with an answer; then come figures, tables and paragraphs in the order they were added.

    The page reads on a phone, in the dark and on paper: wide tables and figures scroll inside their
    frames, and nothing is fetched.
    """

    def __init__(self, title: str, heading: str = "h2") -> None:
        self.title, self._heading = title, heading
        self._answer: list[str] = []
        self._parts: list[str] = []

    def answer(self, sentence: str, certainty: str) -> None:
        """Say what the page finds, and how sure that is; both stand first, whenever said."""
        self._answer = [
            f'<p class="answer">{shown_text(sentence)}</p>',
            f'<p class="certainty">{shown_text(certainty)}</p>',
        ]

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<{self._heading}>{shown_text(text)}</{self._heading}>")

    def text(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        self._parts += [f"<p>{shown_text(paragraph)}</p>" for paragraph in paragraphs]

    def figure(self, picture: bytes, caption: str, inches: float = 6.4) -> None:
        """Add a picture, a PNG file's bytes, so many inches wide."""
        data = base64.b64encode(picture).decode()
        self._parts.append(
            f'<figure style="--inches:{inches:.3g}"><div class="scroll">'
            f'<img alt="{escape(printable(caption))}" src="data:image/png;base64,{data}"></div>'
            f"<figcaption>{shown_text(caption)}</figcaption></figure>"
        )

    def table(self, heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of text cells; an empty heading adds none."""
        if heading:
            self.heading(heading)
        wordy = {place for row in rows for place, cell in enumerate(row) if len(cell) > _SENTENCE}
        body = "".join(_row("td", row, wordy) for row in rows)
        self._parts.append(
            f'<div class="scroll"><table{_WIDE if len(columns) > _FEW else ""}>'
            f"<thead>{_row('th', columns, wordy)}</thead>"
            f"<tbody>{body}</tbody></table></div>"
        )

    def insert(self, html: str) -> None:
        """Add a part that is HTML already; whoever made it has escaped what others wrote."""
        self._parts.append(html)

    def body(self) -> str:
        """All parts, without a page around them."""
        return "\n".join([*self._answer, *self._parts])

    def html(self, origin: Sequence[tuple[str, str]] = (), details: str = "") -> str:
        """The whole page.

        `origin` has lines on where the numbers come from, a word and a text each.  `details` is a
        text at the end of the page, folded up.
        """
        lines = "".join(
            f"<dt>{shown_text(word)}</dt><dd>{shown_text(text)}</dd>" for word, text in origin
        )
        foot = f"<h2>Where these numbers come from</h2><dl>{lines}</dl>" if origin else ""
        return _PAGE.format(
            title=shown_text(self.title),
            style=STYLE,
            body=self.body(),
            foot=foot,
            details=escape(details),
        )


def shown_text(text: str) -> str:
    """A text as HTML; what is written from right to left does not turn round what is beside it."""
    return _RIGHT_TO_LEFT_RUN.sub(r"<bdi>\g<0></bdi>", escape(printable(text)))


def _row(kind: str, cells: Sequence[str], wordy: Container[int]) -> str:
    inner = [
        f"<{kind}{_marks(kind == 'td' and _stays_whole(cell), place in wordy)}>"
        f"{shown_text(shown_cell(cell))}</{kind}>"
        for place, cell in enumerate(cells)
    ]
    return f"<tr>{''.join(inner)}</tr>"


def _marks(whole: bool, words: bool) -> str:
    marks = " ".join([_WHOLE] * whole + [_WORDS] * words)
    return f' class="{marks}"' if marks else ""


def _stays_whole(cell: str) -> bool:
    return len(cell) <= _SHORT or _NUMBERS.fullmatch(cell) is not None


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head><body>
<h1>{title}</h1>
{body}
<footer>{foot}
<details><summary>Settings and versions</summary><pre>{details}</pre></details></footer>
</body></html>
"""
