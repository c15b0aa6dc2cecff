"""Names as people see them: short, on one line, and without power over a terminal or a figure."""

MOST, MOST_IN_CELL, MOST_IN_FIGURE = 60, 300, 28
"""Characters of a name in a sentence, a table and a figure; files have all of them."""


def printable(text: str) -> str:
    """A text in which characters that do not print, escapes of terminals say, are spelt out."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def shown_name(name: object, most: int = MOST) -> str:
    """A name as sentences show it."""
    text = str(name)
    return printable(text if len(text) <= most else f"{text[: most - 1]}…")


def shown_cell(text: str) -> str:
    """The text of a table's cell, which may be a name."""
    return shown_name(text, MOST_IN_CELL)


def figure_name(name: object) -> str:
    """A name as figures show it, where a dollar would begin a formula.

    The middle of a long name is left out, since names often differ at their ends.
    """
    text = str(name)
    if len(text) > MOST_IN_FIGURE:
        tail = MOST_IN_FIGURE // 3
        text = f"{text[: MOST_IN_FIGURE - tail - 1]}…{text[-tail:]}"
    return printable(text).replace("$", r"\$")
