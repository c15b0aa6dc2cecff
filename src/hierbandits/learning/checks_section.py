"""What a log shows against the model, and what it cannot show, as the page has them."""

from collections.abc import Sequence

from hierbandits.learning.check import LEVEL, Check
from hierbandits.learning.sections import Section
from hierbandits.learning.sentence import Claim, Sentence, in_odds


def on_checks(checks: Sequence[Check]) -> list[Sentence]:
    """The troubles that are worth a line; correlations have a paragraph of their own."""
    said = [check.sentence for check in checks if check.sentence is not None]
    return [sentence for sentence in said if sentence.claim is not Claim.CORRELATED]


def checks_section(checks: Sequence[Check]) -> Section:
    """All checks, those that found nothing and those that could not be made too."""
    rows = []
    for check in checks:
        sure = "" if check.p_value is None else f"p = {check.p_value:.2g}"
        if check.log_odds is not None:
            side = "for" if check.log_odds >= 0 else "against"
            sure = f"{in_odds(abs(check.log_odds))} {side}"
        seen = "not checked" if not check.is_made else "yes" if check.claim else "not seen"
        rows.append([check.asks, seen, sure])
    words = [check.words for check in checks if check.claim is not None]
    words += [f"{check.asks} {check.words}" for check in checks if not check.is_made]
    words.append(
        "Each is asked of the residuals of a task's own fit, and said to be seen where p is below "
        f"{LEVEL:g}, or odds above 20 to 1. What is not seen may be there all the same: few rows "
        "show little."
    )
    return Section(
        name="checks",
        heading="What the log shows against the model",
        columns=("question", "seen", "certainty"),
        rows=rows,
        words=words,
    )


def unseen_section(*, has_time: bool, has_propensities: bool, is_armed: bool) -> Section:
    """What no number of this report can show."""
    rows = [
        [
            "Confounding",
            "If those who chose arms saw more than this log holds, such as how ill a patient was, "
            "then an arm's rewards say who got it as much as what it does. "
            + (
                "Its propensities help an evaluation; this fit does not use them."
                if has_propensities
                else "Only a log of random choices rules this out."
            ),
        ],
        [
            "Rewards that are missing",
            "Rows without a reward are not here. If good or bad ones are lost more often, means "
            "are off.",
        ],
        [
            "Tasks that sway each other",
            "What one task does is taken to leave the rewards of others alone.",
        ],
        [
            "Tasks to come",
            "New tasks are taken to be like the log's. A log of other tasks, or of another "
            "season, says little of them."
            + ("" if has_time else " No column of times was named, so drift was not looked for."),
        ],
    ]
    if not is_armed:
        rows.append(
            [
                "Features beyond those given",
                "Rewards are taken to be linear in these features; bends and products of features "
                "are not looked for.",
            ]
        )
    return Section(
        name="unseen",
        heading="What it cannot see",
        columns=("what", "why"),
        rows=rows,
        words=[],
        brief=False,
    )
