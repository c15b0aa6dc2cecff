"""What no number of an evaluation can show."""

from hierbandits.evaluation.evaluation import Evaluation
from hierbandits.evaluation.evaluation_tables import Table

HEADING = "What it cannot see"


def unseen_table(evaluation: Evaluation) -> Table:
    """What is taken for granted, and why the log cannot check it: confounding first."""
    weighs = bool(evaluation.diagnostics or evaluation.replays)
    confounding = (
        "There are no propensities, so the reward model speaks alone. If those who chose arms saw "
        "more than this log holds, such as how ill a patient was, it takes that for what arms do."
    )
    if weighs:
        confounding = (
            "Propensities are taken as they are. If those who chose arms saw more than this log "
            "holds, such as how ill a patient was, propensities that leave it out are wrong, and "
            "so are all weights. Mean weights and the gap of DM and DR show some such faults."
        )
    if evaluation.settings["uniform"]:
        confounding = (
            "You said that every eligible arm was equally likely, whoever came. If that is not so, "
            "all weights are wrong. Mean weights and the gap of DM and DR show some such faults."
        )
    rows = [
        ["Confounding", confounding],
        [
            "Rewards that are missing",
            "Rows without a reward are not here. If good or bad ones are lost more often, all "
            "values are off.",
        ],
        [
            "Rows that sway each other",
            "A reward is taken to depend on its own arm alone, not on earlier arms of the task or "
            "on other tasks, and intervals take rows as independent.",
        ],
        [
            "Times to come",
            "Values are those of this log's tasks and time. Other tasks, or another season, may "
            "pay otherwise.",
        ],
    ]
    if not evaluation.settings["eligible"]:
        barred = (
            "No column of eligible arms was named, so every policy may play every arm in every row."
        )
        rows.append(["Arms that could not be played", barred])
    return HEADING, ("what", "why"), rows
