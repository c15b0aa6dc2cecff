"""The text of a figure: drawn in fonts that have its characters, or replaced by numbers."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any
from unicodedata import bidirectional

MOST_LISTED = 40
"""Names that a caption lists where the figure has numbers in their place."""

_SHAPED = ((0x0900, 0x109F), (0x1780, 0x17FF))  # scripts whose letters join or change places


def prepare_text(figure: Any) -> str:
    """Make every text of a figure readable; what its caption must add, or nothing.

    Characters that the usual font lacks are drawn in other fonts of this machine.  A text with a
    character that no font has is replaced by a number, and the caption lists these.
    """
    texts = list(_texts(figure))
    words = {text.get_text() for text in texts}
    missing = {letter for word in words for letter in word} - _letters(_usual_font())
    undrawn = set(missing)
    if missing:
        families, undrawn = _other_fonts(frozenset(missing))
        for text in texts:
            if missing & set(text.get_text()):
                text.set_fontfamily([_usual_font().family_name, *families])
    numbers = _replace(figure, undrawn)
    notes = []
    if numbers:
        listed = [f"[{place}] {name}" for name, place in list(numbers.items())[:MOST_LISTED]]
        more = len(numbers) - len(listed)
        notes.append(
            "No font of this machine can draw some of the names, so that numbers stand for them: "
            + ", ".join(listed)
            + (f" and {more} more." if more else ".")
        )
    if any("…" in word for word in words):
        notes.append("In names, … stands for what is left out; the tables have more of it.")
    return " ".join(notes)


def _texts(figure: Any) -> Iterator[Any]:
    """Every text with something in it, the labels of ticks too."""
    from matplotlib.text import Text

    for axis in _axes_of(figure):
        axis.get_ticklabels()  # makes them
    for text in figure.findobj(Text):
        if text.get_text():
            yield text


def _axes_of(figure: Any) -> Iterator[Any]:
    for plot in figure.axes:
        yield from (plot.xaxis, plot.yaxis)


def _replace(figure: Any, undrawn: set[str]) -> dict[str, int]:
    """Put numbers in place of texts that cannot be drawn; the number of each."""
    numbers: dict[str, int] = {}

    def shown(word: str) -> str:
        if not any(letter in undrawn or _needs_shaping(letter) for letter in word):
            return word
        name = word.replace(r"\$", "$")
        return f"[{numbers.setdefault(name, len(numbers) + 1)}]"

    for axis in _axes_of(figure):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        if labels != [shown(label) for label in labels]:
            axis.set_ticklabels([shown(label) for label in labels])
    for text in _texts(figure):
        text.set_text(shown(text.get_text()))
    return numbers


def _needs_shaping(letter: str) -> bool:
    """Whether this matplotlib would draw a letter in the wrong place or form."""
    if letter.isascii() or _shapes_text():
        return False
    joined = any(first <= ord(letter) <= last for first, last in _SHAPED)
    return joined or bidirectional(letter) in ("R", "AL")


@cache
def _shapes_text() -> bool:
    """Whether matplotlib knows of writing from right to left and of letters that join."""
    from matplotlib import __version__

    return tuple(int(part) for part in __version__.split(".")[:2]) >= (3, 11)


def _usual_font() -> Any:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties()))


def _letters(font: Any) -> set[str]:
    """The characters that a font has."""
    return {chr(code) for code in font.get_charmap()}


@cache
def _other_fonts(missing: frozenset[str]) -> tuple[list[str], set[str]]:
    """The fonts of this machine that have these characters, and those that no font has."""
    from matplotlib.font_manager import fontManager, get_font

    families: list[str] = []
    left = set(missing)
    for entry in _in_order(fontManager.ttflist):
        if not left:
            break
        try:
            own = left & _letters(get_font(entry.fname))
        except (OSError, RuntimeError):  # a font that cannot be read
            continue
        if own:
            families.append(entry.name)
            left -= own
    return families, left


def _in_order(entries: Iterable[Any]) -> list[Any]:
    """Upright fonts, those of East Asia first: they have the most characters.

    Fonts of coloured pictures cannot be drawn, and the font of last resort has boxes alone.
    """
    usable = [
        entry
        for entry in entries
        if entry.style == "normal" and not {"Resort", "Emoji", "NonUnicode"} & set(_parts(entry))
    ]
    return sorted(usable, key=lambda entry: ("CJK" not in entry.name, entry.name, entry.fname))


def _parts(entry: Any) -> list[str]:
    return str(entry.name).replace("STIXNonUnicode", "NonUnicode").split()
