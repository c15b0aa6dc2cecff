"""Checks of what a rule of one's own answers, before anything is done with it."""

from typing import Any

import numpy as np

from hierbandits.policies.arms import Arms
from hierbandits.policies.odds import Odds
from hierbandits.policies.rule import Rule
from hierbandits.types import Indices, Vector


def checked_choices(rule: Rule, choices: Any, arms: Arms) -> Indices:
    """A copy of the choices of a round, if each is the number of one of its event's arms."""
    size = arms.sizes.size
    try:
        numbers = np.asarray(choices)
    except ValueError:  # lists of several lengths
        numbers = np.array(None)
    if numbers.dtype.kind not in "iu" or numbers.shape != (size,):
        raise ValueError(
            f"rule {rule!r:.80} must choose integers of shape ({size},), one for each event, "
            f"got {numbers.dtype} of shape {numbers.shape}"
        )
    event = np.repeat(np.arange(size), arms.sizes)
    known = arms.flat_rows() - arms.base[event] == numbers[event]
    wrong = np.flatnonzero(np.bincount(event, known, size) == 0)
    if wrong.size:
        raise ValueError(
            f"rule {rule!r:.80} must choose one of an event's arms, got {numbers[wrong[0]]} for "
            f"event {wrong[0]}, which may play "
            f"{(arms.rows_of(wrong[0]) - arms.base[wrong[0]]).tolist()!r:.80}"
        )
    return numbers.astype(np.intp)


def checked_odds(rule: Rule, odds: Odds, played: Indices) -> Vector:
    """How probable these choices were, if the answer holds probabilities."""
    shares = np.asarray(odds.of(played))
    if shares.dtype.kind not in "biuf" or shares.shape != played.shape:
        raise ValueError(
            f"rule {rule!r:.80} must give odds of shape {played.shape}, one for each event, got "
            f"{shares.dtype} of shape {shares.shape}"
        )
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"rule {rule!r:.80} must give odds in [0, 1], got {shares!r:.80}")
    return shares.astype(float)
