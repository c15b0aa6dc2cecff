"""Our docstrings as Sphinx wants them.

A docstring is plain text: paragraphs, `names` in backticks, numbered lists, and equations, which
are indented.  Nothing else in it has a meaning, so a star or an underscore is just that.
"""

import re

NAME = re.compile(r"[A-Za-z_][\w.]*")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText."""
    result: list[str] = []
    for paragraph in _paragraphs(lines):
        if re.match(r"(\d+\.|-) ", paragraph[0]):
            result += [_escaped(line) for line in paragraph]
        elif any(line.startswith(" ") for line in paragraph):
            result += ["::", "", *(f"    {line}" for line in paragraph)]
        else:
            result += [_escaped(line) for line in paragraph]
        result.append("")
    return result


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """What blank lines part; equations stay together across them."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line.rstrip())
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]


def _escaped(line: str) -> str:
    """A line of text: names in backticks are links where they can be, all else is as it stands."""
    parts = re.split(r"`([^`]+)`", line)
    parts[0::2] = [re.sub(r"([\\*_|`<>])", r"\\\1", part) for part in parts[0::2]]
    parts[1::2] = [
        f":py:obj:`{part}`" if NAME.fullmatch(part) else f"``{part}``" for part in parts[1::2]
    ]
    return re.sub(r"(:py:obj:`[^`]+`|``[^`]+``)(?=\w)", r"\1\\ ", "".join(parts))
