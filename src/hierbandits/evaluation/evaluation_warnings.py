"""What to distrust in an evaluation, in plain words."""

from collections.abc import Mapping

import numpy as np

from hierbandits.evaluation.amounts import percent
from hierbandits.evaluation.diagnostics import FEW_OVERALL, SURE, Diagnostics
from hierbandits.evaluation.estimators import effective_size
from hierbandits.evaluation.evaluation import Estimate
from hierbandits.evaluation.replay import Replayed
from hierbandits.evaluation.weighing import Tally
from hierbandits.logs import Survey
from hierbandits.logs.survey import RARE
from hierbandits.reporting.shown_name import shown_name

FEW = 10
"""Effective rows below which a task's interval is called rough."""


def of_log(survey: Survey, replayed: bool) -> list[str]:
    """Warnings about the log itself."""
    warnings = []
    if survey.num_rare:
        warnings.append(
            f"{survey.num_rare:,} rows have a propensity below {RARE:g} (the least is "
            f"{survey.least_propensity:.2g}): where a policy likes those arms, few rows decide its "
            "estimate."
        )
    if replayed and not survey.is_ordered:
        warnings.append(
            "Times fall from row to row: replay took the rows in their order in the log."
        )
    return warnings


def of_frozen(name: str, tally: Tally, diagnosis: Diagnostics) -> list[str]:
    """Warnings about a frozen policy's weights."""
    warnings, name = [], shown_name(name)
    if diagnosis.unsupported > 0:
        warnings.append(
            f"{name}: {percent(diagnosis.unsupported)} of its choices, in "
            f"{diagnosis.unsupported_tasks} of {tally.moments.n.size} tasks, are arms that the log "
            "never played there, so no row speaks for them. If they never could be played, IPS "
            "and SNIPS are wrong; DM and DR rest on the model there."
        )
    if diagnosis.contradicts_propensities:
        warnings.append(
            f"{name}: its weights average {diagnosis.mean_weight:.3f}, which chance does not "
            "explain; they should average 1. The propensities may be wrong."
        )
    if diagnosis.effective_rows < FEW_OVERALL:
        warnings.append(
            f"{name}: its weighted estimates rest on only {diagnosis.effective_rows:.0f} effective "
            f"rows of {diagnosis.rows:,}, the largest weight being {diagnosis.largest_weight:.3g}: "
            "trust DM and DR no further than the model, IPS and SNIPS hardly at all."
        )
    size = effective_size(tally.moments)[tally.moments.n > 0]
    few, none = int((size < FEW).sum()), int((size < 2).sum())
    if few:
        warnings.append(
            f"{name}: in {few} of {size.size} tasks there are fewer than {FEW} effective rows, so "
            "that the task's own interval is rough"
            + (f"; in {none} there are fewer than 2, and there is no interval." if none else ".")
        )
    return warnings


def of_model(name: str, estimates: Mapping[str, Estimate]) -> list[str]:
    """A warning if the rows contradict the reward model."""
    if not {"dm", "dr"} <= estimates.keys():
        return []
    dm, dr = estimates["dm"], estimates["dr"]
    if not np.isfinite(dr.low) or abs(dm.value - dr.value) <= SURE * np.hypot(dm.error, dr.error):
        return []
    return [
        f"{shown_name(name)}: DM says {dm.value:.4g} and DR {dr.value:.4g}, further apart than by "
        "chance. The reward model is wrong for this policy's choices: prefer DR."
    ]


def of_replay(name: str, replayed: Replayed) -> list[str]:
    """Warnings about a replay."""
    warnings, name = [], shown_name(name)
    if replayed.accepted < FEW_OVERALL:
        warnings.append(
            f"{name}: replay accepted only {replayed.accepted:,} of {replayed.offered:,} rows, "
            "too few to show how it learns."
        )
    if abs(replayed.accepted - replayed.expected) > SURE * np.sqrt(replayed.expected):
        warnings.append(
            f"{name}: replay accepted {replayed.accepted:,} rows, where {replayed.expected:,.0f} "
            "were to be expected. The propensities may be wrong, or it chose arms that could not "
            "be played."
        )
    return warnings
