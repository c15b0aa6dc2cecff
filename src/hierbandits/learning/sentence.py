"""A sentence of a report: what it claims, how sure it is, and its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import exp, log
from typing import Any

from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Name

STEPS = ((150.0, "Almost certainly"), (20.0, "Very probably"), (3.0, "Probably"))  # least odds
NAMED = 5  # tasks or arms that a sentence names


class Claim(Enum):
    """What a sentence says of a log."""

    EQUAL = "tasks are equal, or nearly"
    ALIKE = "tasks are alike, but not equal"
    STRANGERS = "tasks have nothing in common"
    ALIKE_OR_EQUAL = "tasks have something in common, and may be equal"
    ALIKE_OR_STRANGERS = "tasks differ, and may have nothing in common"
    UNDECIDED = "tasks may be equal, alike or strangers"
    DIFFER_IN_SOME = "tasks look equal all in all, and differ in some arms or features"
    DIFFER_LITTLE = "tasks differ little, if at all"
    DIFFER_ALL_IN_ALL = "tasks differ all in all, and no single width is told from zero"
    NOISE_NOT_TOLD = "what differs between tasks and what is noise cannot be told apart"
    POPULATIONS_NOT_TOLD = "tasks and populations cannot be told apart"
    NOT_PLAYED = "nobody played these arms, or these features are always zero"
    WIDTH_NOT_TOLD = "how much tasks differ in these cannot be told"
    SHARE = "so much of the variance lies between tasks"
    MAYBE_NO_SHARE = "no task width is told from zero"
    WIDTHS_MAYBE_ZERO = "the task widths of these are not told from zero"
    NOISE_OF_ARMS = "the fit has a noise for each arm"
    NEEDS = "so many rewards make a task's own data weigh as much as the other tasks"
    NEARLY_REPEATED = "features nearly repeat each other"
    NOT_CONVERGED = "the fit did not converge"
    CORRELATED = "the arms or features of a task are correlated"
    NOT_CORRELATED = "they are not"
    CORRELATION_UNDECIDED = "the log hardly tells whether they are"
    CORRELATION_NOT_SOUGHT = "correlations, or those of more factors, were not looked for"
    OUTLIERS = "these tasks stand out"
    NO_OUTLIERS = "no task stands out"
    TWO_VALUED = "rewards have two values"
    HOLD = "predictions hold"
    OFF = "predictions are off"
    HOLD_NOT_TOLD = "held-out rows are too few to tell"
    SCORES = "how well the three models predict"
    NO_PROMISE = "nothing is promised, as nobody knows how much tasks differ"
    PROMISE = "the regret that a start is promised"
    SAVING = "what it saves"
    SHARING_ALONE = "how much of that is due to sharing, and not to the rule that chooses"
    STATED_WIDTHS = "the start does not go on learning widths"
    TS_SHARES_TOO = "tasks share, and TS does as well since it knows the log"
    PROMISE_WITHOUT = "promises are without what nobody played"
    DRIFT = "rewards change with time"
    TWO_GROUPS = "tasks fall into two groups"
    NOISE_BY_ARM = "the noise differs by arm"
    NOISE_BY_TASK = "the noise differs by task"
    HEAVY_TAILS = "rewards have heavy tails"
    FAMILY = "what family rewards belong to, or look like"
    OFFERED = "what was offered in the simulation"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One claim in words."""

    claim: Claim
    text: str
    log_odds: float | None = None  # for the claim over what else may be, where they are known
    about: tuple[Name, ...] = ()  # the tasks, arms or features that it is about

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "claim": self.claim.name.lower(),
            "text": self.text,
            "log_odds": self.log_odds,
            "about": list(self.about),
        }


def texts(sentences: Sequence[Sentence]) -> list[str]:
    """The words alone."""
    return [sentence.text for sentence in sentences]


def certainty(log_odds: float) -> str:
    """How sure a claim of these odds is; the steps are those of Kass and Raftery (1995)."""
    return next((word for odds, word in STEPS if log_odds >= log(odds)), "Perhaps")


def in_odds(log_odds: float) -> str:
    """Odds of one and more, in words."""
    return f"{exp(log_odds):.3g} to 1" if log_odds < 10 else f"e^{log_odds:.0f} to 1"


def number(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:.0f}" if 10 <= value < 1e6 else f"{value:.2g}"


def listed(names: Sequence[object]) -> str:
    """The first names."""
    shown = ", ".join(shown_name(name) for name in names[:NAMED])
    return shown + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
