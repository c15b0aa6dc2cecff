"""One check of what the model assumes."""

from dataclasses import dataclass
from typing import Any

from hierbandits.learning.sentence import Claim, Sentence
from hierbandits.types import Name

LEVEL = 0.005
"""The p-value from which a check is worth a line: five raise 2.5 % false alarms together."""

LEAST_ODDS = 20.0  # from which a check that has odds is worth a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check asked, and what it saw; one that could not be made says why in `words`."""

    asks: str
    words: str  # what was seen, or why nothing could be
    claim: Claim | None = None  # the trouble, if there is any that is worth a line
    effect: float | None = None  # its size; `words` say of what
    p_value: float | None = None
    log_odds: float | None = None  # for the trouble, where it has odds in place of a p-value
    about: tuple[Name, ...] = ()

    @property
    def is_made(self) -> bool:
        """Whether the log allowed it."""
        return self.p_value is not None or self.log_odds is not None

    @property
    def sentence(self) -> Sentence | None:
        """The trouble in words; None if there is none that is worth a line."""
        if self.claim is None:
            return None
        return Sentence(self.claim, self.words, self.log_odds, self.about)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "asks": self.asks,
            "trouble": None if self.claim is None else self.claim.name.lower(),
            "effect": self.effect,
            "p_value": self.p_value,
            "log_odds": self.log_odds,
            "words": self.words,
            "about": list(self.about),
        }
