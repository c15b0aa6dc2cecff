"""How the cells of a log are read, and which rows are left out."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from shlex import quote
from typing import Any

DECIMALS = (".", ",")
THOUSANDS = (",", ".", "'", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How cells are read, and which rows are left out; by default nothing is repaired.

    Every row that is left out is counted, and reports say how many there are.
    """

    strip: bool = False  # remove spaces around text; text of which nothing is left is missing
    merge_names: bool = False  # names that differ in case, spaces or forms of letters are the first
    missing: Sequence[str] = ()  # text that stands for a missing cell: ("NA", "NULL")
    drop_missing: bool = False  # leave out rows with a missing cell in a column that is read
    drop_repeated: bool = False  # leave out rows that repeat an earlier one, decision id and all
    time_format: str | None = None  # of times that are not ISO dates: "%m/%d/%Y"
    separator: str | None = None  # of a CSV's cells; None: the one of , ; tab | that its header has
    decimal: str = "."  # or "," in a CSV whose numbers have a decimal comma
    thousands: str | None = None  # between thousands of a CSV's numbers: "," in 1,234.5

    def __post_init__(self) -> None:
        for name in ("strip", "merge_names", "drop_missing", "drop_repeated"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r:.80}")
        words = self.missing
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise ValueError(f"missing must be a sequence of strings, got {words!r:.80}")
        object.__setattr__(self, "missing", tuple(words))
        form = self.time_format
        if form is not None and not (isinstance(form, str) and "%" in form):
            raise ValueError(f"time_format must be a form such as '%m/%d/%Y', got {form!r:.80}")
        if self.decimal not in DECIMALS:
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r:.80}")
        if self.thousands not in (None, *THOUSANDS) or self.thousands == self.decimal:
            raise ValueError(
                f"thousands must be one of {' '.join(map(repr, THOUSANDS))} and not the decimal "
                f"mark {self.decimal!r}, got {self.thousands!r:.80}"
            )
        mark = self.separator
        if mark is not None and not (isinstance(mark, str) and len(mark) == 1 and mark.isascii()):
            raise ValueError(f"separator must be one ASCII character, got {mark!r:.80}")
        if mark is not None and mark in '"\r\n':
            raise ValueError(f"separator must not be a quote or the end of a line, got {mark!r}")

    def to_dict(self) -> dict[str, Any]:
        """What differs from the defaults, for JSON."""
        usual = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    def options(self) -> list[str]:
        """The same as options of the command line, but for `drop_repeated`: that is --decision."""
        spelt = []
        for name, value in self.to_dict().items():
            option = "--" + name.replace("_", "-")
            if name == "missing":
                spelt += [f"{option}={quote(word)}" for word in value]
            elif name != "drop_repeated":
                spelt.append(option if value is True else f"{option}={quote(value)}")
        return spelt


AS_IT_IS = Reading()
"""Nothing is repaired."""
