"""Which column of a log may hold what: a proposal for people, from names and cells."""

import re
from collections.abc import Callable, Sequence

from hierbandits.logs.column_profile import ColumnProfile

WORDS = {
    "reward": "reward|revenue|sales|click(s|ed)?|conver(ted|sion)|outcome|profit|margin|success|y"
    "|paid|payoff|value|score|rating|purchase[ds]?|bought|amount",
    "propensity": "propensity|prob(ability)?|p|pscore|pi",
    "time": "time|date|day|when|timestamp|ts|at|created|datetime|hour|week",
    "task": "task|store|shop|site|user|customer|client|patient|ward|hospital|branch|region|school"
    "|account|group|market|segment|device|machine",
    "arm": "arm|action|promo(tion)?|variant|treatment|offer|choice|chosen|option|campaign|ad|dose"
    "|price|banner|item|product|message|creative|version",
    "decision": "decision|id|uuid|key|impression|event|row",
}
"""Words in the names of columns that hint at a role, in the order in which roles are filled."""


def guessed_roles(profiles: Sequence[ColumnProfile]) -> dict[str, str]:
    """The likely column of each role; roles without one are left out."""
    roles: dict[str, str] = {}
    free = list(profiles)
    for role, words in WORDS.items():
        scored = [(_score(role, words, profile), -place) for place, profile in enumerate(free)]
        best = max(scored, default=(0.0, 0))
        if best[0] > 0:
            roles[role] = free.pop(-best[1]).name
    return roles


def _score(role: str, words: str, profile: ColumnProfile) -> float:
    """How well a column fits a role; 0 if it cannot have it."""
    fit = FITS[role](profile)
    if fit <= 0:
        return 0.0
    parts = re.split(r"[^a-z0-9]+|(?<=[a-z])(?=[A-Z])", profile.name)
    named = any(re.fullmatch(words, part.lower()) for part in parts if part)
    if role in ("propensity", "time", "decision") and not named and fit < 1:
        return 0.0
    return fit + 2.0 * named


def _reward(profile: ColumnProfile) -> float:
    if profile.kind not in ("integers", "numbers", "booleans") or profile.distinct < 2:
        return 0.0
    return 0.5 if profile.kind == "integers" and profile.is_unique else 1.0


def _propensity(profile: ColumnProfile) -> float:
    if profile.kind not in ("integers", "numbers") or profile.least is None:
        return 0.0
    assert profile.largest is not None
    return 0.5 if profile.least > 0 and profile.largest <= 1 else 0.0


def _time(profile: ColumnProfile) -> float:
    return 1.0 if profile.kind == "dates" else 0.1 if profile.kind != "lists" else 0.0


def _task(profile: ColumnProfile) -> float:
    if profile.kind not in ("integers", "text") or profile.distinct < 2 or profile.is_unique:
        return 0.0
    return 1.0 if profile.distinct * 2 <= profile.num_rows else 0.2


def _arm(profile: ColumnProfile) -> float:
    if profile.kind not in ("integers", "text") or not 2 <= profile.distinct <= 1_000:
        return 0.0
    if 2 * profile.distinct > profile.num_rows:
        return 0.0
    return 1.0 if profile.distinct <= 50 else 0.2


def _decision(profile: ColumnProfile) -> float:
    if profile.kind not in ("integers", "text") or profile.distinct * 2 < profile.num_rows:
        return 0.0
    return 1.0 if profile.is_unique else 0.5


FITS: dict[str, Callable[[ColumnProfile], float]] = {
    "reward": _reward,
    "propensity": _propensity,
    "time": _time,
    "task": _task,
    "arm": _arm,
    "decision": _decision,
}
"""How well a column's cells fit each role, from 0 to 1."""
