"""What to distrust in an evaluation and what to do about it, in plain words.

Policies with the same trouble share one warning.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hierbandits.evaluation.amounts import number, percent
from hierbandits.evaluation.diagnostics import FEW_OVERALL, SURE, Diagnostics
from hierbandits.evaluation.difference import Difference
from hierbandits.evaluation.evaluation import Estimate, TaskEstimates
from hierbandits.evaluation.replay import Replayed
from hierbandits.evaluation.weighing import CORRECTION, Tally
from hierbandits.logs import Survey
from hierbandits.logs.survey import RARE
from hierbandits.reporting.shown_name import shown_name

FEW = 10
"""Effective rows below which a task's interval is called rough."""

PARTED = 3.0
"""Standard errors beyond which DM and DR do not agree."""

NAMED = 6
"""Policies that a warning names."""


def of_log(survey: Survey, replayed: bool) -> list[str]:
    """Warnings about the log itself."""
    warnings = []
    if survey.num_rare:
        warnings.append(
            f"{survey.num_rare:,} rows have a propensity below {RARE:g} (the least is "
            f"{survey.least_propensity:.2g}): where a policy likes those arms, few rows decide its "
            "estimate. Check that these propensities are right."
        )
    if replayed and not survey.is_ordered:
        warnings.append(
            "Times fall from row to row: replay took the rows in their order in the log. Sort the "
            "log by time if the order matters."
        )
    return warnings


def of_weights(
    diagnostics: Mapping[str, Diagnostics], by_task: Mapping[str, TaskEstimates]
) -> list[str]:
    """Warnings about the weights of frozen policies; `by_task` holds any weighted estimates."""
    warnings = []
    total = max((each.rows.size for each in by_task.values()), default=0)
    found = {name: each for name, each in diagnostics.items() if each.unsupported > 0}
    if found:
        tasks = _range(str(each.unsupported_tasks) for each in found.values())
        warnings.append(
            f"{_who(found)}: {_range(percent(each.unsupported) for each in found.values())} of "
            f"{_their(found)} choices, in {tasks} of {total} tasks, are arms that the log never "
            "played there, so no row speaks for them. DM and DR take the model's word; IPS and "
            "SNIPS are wrong if these arms could never be played. Try those arms at random first, "
            "or keep to arms that were tried."
        )
    found = {name: each for name, each in diagnostics.items() if each.contradicts_propensities}
    if found:
        means = _range(f"{each.mean_weight:.3f}" for each in found.values())
        warnings.append(
            f"{_who(found)}: {_their(found)} weights average {means}, which chance does not "
            "explain; they should average 1. The propensities may be wrong, or rows barred arms: "
            "check how propensities were logged, and name the column of eligible arms if there is "
            "one, before you use IPS, SNIPS or DR."
        )
    found = {name: e for name, e in diagnostics.items() if e.effective_rows < FEW_OVERALL}
    if found:
        sizes = _range(f"{each.effective_rows:.0f}" for each in found.values())
        rows = next(iter(found.values())).rows
        warnings.append(
            f"{_who(found)}: {_their(found)} weighted estimates rest on only {sizes} effective "
            f"rows of {rows:,}. Trust DM and DR no further than the model, and IPS and SNIPS "
            "hardly at all; collect more rows, or judge policies that are closer to the log's."
        )
    return warnings + _of_tasks(by_task)


def _of_tasks(by_task: Mapping[str, TaskEstimates]) -> list[str]:
    """A warning if tasks have few effective rows of their own."""
    few: dict[str, int] = {}
    none = met = 0
    for name, each in by_task.items():
        if each.effective_rows is not None:
            size = each.effective_rows[each.rows > 0]
            met = size.size
            if (size < FEW).any():
                few[name], none = int((size < FEW).sum()), max(none, int((size < 2).sum()))
    if not few:
        return []
    without = f"; up to {none} have fewer than 2, and no interval" if none else ""
    return [
        f"{_who(few)}: {_range(str(one) for one in few.values())} of {met} tasks have fewer than "
        f"{FEW} effective rows, so that their own intervals are rough{without}. Read the overall "
        "numbers rather than those of single tasks."
    ]


def of_model(estimates: Sequence[Estimate], tallies: Mapping[str, Tally]) -> list[str]:
    """A warning where DM and DR part by more than their errors allow.

    DR - DM is the mean of w (r - model): the rows' own verdict on the model.  Its error is that of
    this mean and of the model's value.
    """
    parted: dict[str, tuple[float, str]] = {}  # how far, and in words
    models = {each.policy: each for each in estimates if each.method == "dm"}
    for dr in estimates:
        if dr.method != "dr" or dr.policy not in models or not np.isfinite(dr.low):
            continue
        dm, paired = models[dr.policy], tallies[dr.policy].paired
        weights = np.eye(paired.mean.shape[1])[CORRECTION]
        error = np.hypot(paired.error(*weights)[0], dm.error)
        apart = abs(paired.mean[0, CORRECTION]) / max(error, 1e-300)
        if apart > PARTED:
            shown = [number(each.value, each.error) for each in (dm, dr)]
            values = f"{shown_name(dr.policy)}: {shown[0]} by DM, {shown[1]} by DR"
            parted[dr.policy] = apart, values
    if not parted:
        return []
    most, values = "at most, " if len(parted) > 1 else "", max(parted.values())[1]
    return [
        f"{_who(parted)}: DM and DR are further apart than their errors allow ({most}{values}). "
        "The reward model is wrong for these choices, or the propensities are. If the propensities "
        "are right, prefer DR. What the log's policy knew and the log does not say may be the "
        "cause: then every policy that was learned from this log is misled too. Make it part of "
        "the task, and evaluate again."
    ]


def of_losers(
    differences: Iterable[Difference], trained: set[str], arm: str, confidence: float
) -> list[str]:
    """A warning if learned policies earn less than the best single arm, beyond their intervals.

    Intervals are those of the verdict, so that both say the same.
    """
    lost = {
        each.policy: number(-each.value, each.error)
        for each in differences
        if each.policy in trained and each.interval(confidence)[1] < 0
    }
    if not lost:
        return []
    return [
        f"{_who(lost)}: {'earns' if len(lost) == 1 else 'earn'} less than {arm}, by "
        f"{_range(lost.values())} per decision. Do not use {'it' if len(lost) == 1 else 'them'} "
        "here: the simpler policy is better."
    ]


def of_replays(replays: Mapping[str, Replayed]) -> list[str]:
    """Warnings about replays."""
    warnings = []
    few = {name: each for name, each in replays.items() if each.accepted < FEW_OVERALL}
    if few:
        accepted = _range(f"{each.accepted:,}" for each in few.values())
        offered = _range(f"{each.offered:,}" for each in few.values())
        warnings.append(
            f"{_who(few)}: replay accepted only {accepted} of {offered} rows, too few to show how "
            f"{'it learns' if len(few) == 1 else 'they learn'}. Give more rows, or a log that "
            "chose more evenly."
        )
    odd = {
        name: each
        for name, each in replays.items()
        if abs(each.accepted - each.expected) > SURE * np.sqrt(each.expected)
    }
    if odd:
        accepted = _range(f"{each.accepted:,}" for each in odd.values())
        expected = _range(f"{each.expected:,.0f}" for each in odd.values())
        warnings.append(
            f"{_who(odd)}: replay accepted {accepted} rows, where {expected} were to be expected. "
            "The propensities may be wrong, or arms were chosen that could not be played: name "
            "the column of eligible arms."
        )
    return warnings


def _who(names: Iterable[str]) -> str:
    """The policies that a warning is about, counted if they are several."""
    shown = [shown_name(name) for name in names]
    if len(shown) == 1:
        return shown[0]
    listed = shown[:NAMED] if len(shown) > NAMED else shown[:-1]
    last = f"{len(shown) - NAMED} more" if len(shown) > NAMED else shown[-1]
    return f"{len(shown)} policies ({', '.join(listed)} and {last})"


def _their(names: Mapping[str, object]) -> str:
    return "its" if len(names) == 1 else "their"


def _range(texts: Iterable[str]) -> str:
    """One text, or from the least to the largest by the numbers that they begin with."""
    known = sorted(set(texts), key=lambda text: float(text.strip("<% ").replace(",", "")))
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"
