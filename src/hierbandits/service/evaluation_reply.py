"""What an evaluation of a candidate tells."""

from math import isfinite
from typing import Literal

import msgspec

from hierbandits.evaluation import Estimate, Evaluation
from hierbandits.evaluation.difference import LOGGED, Difference
from hierbandits.service.wire import ProblemPart

CANDIDATE, BEST_ARM = "The candidate", "best arm"
"""The names of what is judged, as sentences have them."""


class Interval(msgspec.Struct):
    """A number and its interval; null where the rows do not tell."""

    value: float | None
    low: float | None
    high: float | None


class Judged(msgspec.Struct):
    """What one policy earns per decision, and how much more than others on the same rows."""

    policy: Literal["candidate", "logged", "best arm"]
    """"logged" is the policy as it was when it made the log."""
    reward: Interval
    over_log: Interval | None = None
    over_best_arm: Interval | None = None
    effective_rows: float | None = None
    """As many rows of equal weight would be as good."""
    arms: list[str] | None = None
    """What the best single arm is."""


class Findings(msgspec.Struct):
    """The answer of an evaluation."""

    verdict: str
    """The answer in one sentence, with how certain it is."""
    better_than_log: bool | None
    """Whether the candidate earns more than the log did; null if the rows do not tell."""
    better_than_best_arm: bool | None
    confidence: float
    policies: list[Judged]
    rows: int
    """Decisions that judged; earlier ones trained the candidate."""
    rows_of_training: int
    until_event: int
    """The last event of the log that was read; where workers share it, how many decisions were."""
    warnings: list[str]
    """What to distrust, and what to do about it."""
    notes: list[str]


class Answer(msgspec.Struct):
    """What the process of an evaluation says: findings, or why there are none."""

    findings: Findings | None = None
    problem: ProblemPart | None = None


class EvaluationReply(msgspec.Struct):
    """An evaluation and its state: "running", "done", "refused" or "stopped"."""

    id: str
    policy: str
    state: Literal["running", "done", "refused", "stopped"]
    started: float
    seconds: float
    findings: Findings | None = None
    problem: ProblemPart | None = None
    """Why there are no findings."""


def findings(evaluation: Evaluation, read: int, until: int, more_warnings: list[str]) -> Findings:
    """What to tell of an evaluation of the candidate and the best arm on `read` rows."""
    logged, trusted = evaluation.estimates[0], {e.policy: e for e in evaluation.trusted()}
    differences = {
        (each.policy, each.against): each
        for each in evaluation.differences
        if each.method == trusted[each.policy].method
    }
    to_log = differences[CANDIDATE, LOGGED]
    to_arm = differences.get((CANDIDATE, BEST_ARM))
    sizes = {name: each.effective_rows for name, each in evaluation.diagnostics.items()}
    policies = [
        Judged("candidate", _of_estimate(trusted[CANDIDATE]), _of_difference(to_log),
               None if to_arm is None else _of_difference(to_arm), sizes.get(CANDIDATE)),
        Judged("logged", _of_estimate(logged)),
        Judged("best arm", _of_estimate(trusted[BEST_ARM]),
               _of_difference(differences[BEST_ARM, LOGGED]), None, sizes.get(BEST_ARM),
               sorted({str(arm) for arm in evaluation.best_arms})),
    ]  # fmt: skip
    rows, verdict = logged.rows, evaluation.verdict
    # As sure as the sentence, whose intervals hold for all policies at once.
    told = 1 - (1 - evaluation.confidence) / max(verdict.compared, 1)
    return Findings(
        verdict.sentence, _more(to_log, told), None if to_arm is None else _more(to_arm, told),
        evaluation.confidence, policies, rows, read - rows, until,
        [*evaluation.warnings, *more_warnings], list(evaluation.notes),
    )  # fmt: skip


def _more(difference: Difference, confidence: float) -> bool | None:
    """Whether a difference is above zero; None if its interval holds zero."""
    low, high = difference.interval(confidence)
    return True if low > 0 else False if high < 0 else None


def _of_estimate(estimate: Estimate) -> Interval:
    return _interval(estimate.value, estimate.low, estimate.high)


def _of_difference(difference: Difference) -> Interval:
    return _interval(difference.value, difference.low, difference.high)


def _interval(*numbers: float) -> Interval:
    return Interval(*(number if isfinite(number) else None for number in numbers))
