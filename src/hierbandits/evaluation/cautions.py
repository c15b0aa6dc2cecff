"""What to distrust in an evaluation, in plain words."""

from collections.abc import Mapping

import numpy as np

from hierbandits.evaluation.estimators import effective_size
from hierbandits.evaluation.evaluation import Estimate
from hierbandits.evaluation.evaluation_tables import percent
from hierbandits.evaluation.replay import Replayed
from hierbandits.evaluation.weighing import Diagnostics, Tally
from hierbandits.logs.survey import RARE, Survey

FEW = 10
"""Effective rows below which a task's interval is called rough."""

FEW_OVERALL = 100

SURE = 4.0
"""Standard errors beyond which a gap is not put down to chance."""


def of_log(survey: Survey, replayed: bool) -> list[str]:
    """What the log itself gives cause for."""
    found = []
    if survey.rare:
        found.append(
            f"{survey.rare:,} rows have a propensity below {RARE:g} (the least is "
            f"{survey.least:.2g}): where a policy likes those arms, few rows decide its estimate."
        )
    if replayed and not survey.is_ordered:
        found.append("Times fall from row to row: replay took the rows in their order in the log.")
    return found


def of_frozen(name: str, tally: Tally, found: Diagnostics) -> list[str]:
    """What a frozen policy's weights give cause for."""
    out = []
    if found.unsupported > 0:
        out.append(
            f"{name}: {percent(found.unsupported)} of its choices, in {found.unsupported_tasks} of "
            f"{tally.moments.n.size} tasks, are arms that the log never played there, so no row "
            "speaks for them.  If they never could be played, IPS and SNIPS are wrong; DM and DR "
            "rest on the model there."
        )
    # Where arms could not be played at all, weights fall short of 1 by their share.
    gap = max(found.mean_weight - 1, 1 - found.unsupported - found.mean_weight)
    if gap > max(SURE * found.mean_weight_error, 1e-6):
        out.append(
            f"{name}: its weights average {found.mean_weight:.3f}, which chance does not explain; "
            "they should average 1.  The propensities may be wrong."
        )
    if found.effective_rows < FEW_OVERALL:
        out.append(
            f"{name}: its weighted estimates rest on only {found.effective_rows:.0f} effective "
            f"rows of {found.rows:,}, the largest weight being {found.largest_weight:.3g}: "
            "trust DM and DR no further than the model, IPS and SNIPS hardly at all."
        )
    size = effective_size(tally.moments)[tally.moments.n > 0]
    few, none = int((size < FEW).sum()), int((size < 2).sum())
    if few:
        out.append(
            f"{name}: in {few} of {size.size} tasks there are fewer than {FEW} effective rows, so "
            "that the task's own interval is rough"
            + (f"; in {none} there are fewer than 2, and there is no interval." if none else ".")
        )
    return out


def of_model(name: str, estimates: Mapping[str, Estimate]) -> list[str]:
    """Whether the reward model is contradicted by the rows."""
    if not {"dm", "dr"} <= estimates.keys():
        return []
    dm, dr = estimates["dm"], estimates["dr"]
    if not np.isfinite(dr.low) or abs(dm.value - dr.value) <= SURE * np.hypot(dm.error, dr.error):
        return []
    return [
        f"{name}: DM says {dm.value:.4g} and DR {dr.value:.4g}, further apart than by chance.  "
        "The reward model is wrong for this policy's choices: prefer DR."
    ]


def of_replay(name: str, found: Replayed) -> list[str]:
    """What a replay gives cause for."""
    out = []
    if found.accepted < FEW_OVERALL:
        out.append(
            f"{name}: replay accepted only {found.accepted:,} of {found.offered:,} rows, too few "
            "to show how it learns."
        )
    if abs(found.accepted - found.expected) > SURE * np.sqrt(found.expected):
        out.append(
            f"{name}: replay accepted {found.accepted:,} rows, where {found.expected:,.0f} were to "
            "be expected.  The propensities may be wrong, or it chose arms that could not be "
            "played."
        )
    return out
