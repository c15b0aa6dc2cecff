"""How we read the paper's words on its digits, where they leave a choice."""

from dataclasses import dataclass

from hierbandits.checks import one_of
from hierbandits.environments.digit_estimators import THETA_ESTIMATORS

ARM_SOURCES = {
    "subsample": "The pictures that a task offers are of the task's own sub-sample.",
    "test-half": "The pictures that a task offers are of the whole test half, as the paper says. "
    "All tasks are then the same problem, and no sub-sample of the test half is drawn.",
}
"""Where the arms of a task come from: the name of each choice, and a sentence about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigitReading:
    """One reading: how theta_s is computed, and where the arms of a task come from."""

    estimator: str = "choice-weighted"
    arms_from: str = "subsample"

    def __post_init__(self) -> None:
        one_of("estimator", self.estimator, THETA_ESTIMATORS)
        one_of("arms_from", self.arms_from, ARM_SOURCES)
