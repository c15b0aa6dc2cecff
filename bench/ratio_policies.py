"""Policies whose exposures go through the account of the sample-ratio check, compiled.

`account_error` compares the compiled account with the service's own, exposure by exposure.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import numba
import numpy as np
from numba.extending import get_cython_function_address
from numpy.random import Generator
from numpy.typing import NDArray

from hierbandits.service import aimed_bets, sample_ratio, wealth
from hierbandits.service.rollout_state import FALSE_ALARMS
from hierbandits.service.sample_ratio import RatioBets
from hierbandits.service.wealth import Array

_quantile = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(
    get_cython_function_address("scipy.special.cython_special", "ndtri")
)


_Function = TypeVar("_Function", bound=Callable[..., object])


def _compiled(function: _Function) -> _Function:
    """A function compiled by numba, anew in each process: the quantiles are scipy's own."""
    return cast(_Function, numba.njit(function))


@dataclass(frozen=True, slots=True)
class Setting:
    """How propensities come about, and what share of the first arm's exposures is lost."""

    name: str
    arms: int = 2
    learns: float = 0.0  # how fast propensities follow rewards; 0 is even for ever
    gap: float = 0.0  # of the first arm's mean reward to the others
    lost: float = 0.0
    part: float = 1.0  # of the exposures, to save time


@dataclass(frozen=True, slots=True)
class Account:
    """How the account is spread over bets: what the service has, unless told otherwise."""

    goal: float
    of_losses: Array
    of_deadlines: Array
    losses: Array
    deadlines: Array
    first: float
    idle: float

    @classmethod
    def of_service(cls) -> "Account":
        """The account of the service."""
        return cls(
            1 / FALSE_ALARMS,
            sample_ratio._OF_LOSSES,
            sample_ratio._OF_DEADLINES,
            sample_ratio.LOSSES,
            aimed_bets.DEADLINES,
            sample_ratio._FIRST,
            sample_ratio._LATER + sample_ratio._KEPT,
        )


def simulated(
    setting: Setting,
    lost: float,
    exposures: int,
    policies: int,
    rng: Generator,
    account: Account | None = None,
) -> tuple[Array, Array]:
    """For each policy the exposures, seen or lost, at its alarm, inf if it has none; and the log
    likelihood ratio of the setting's own loss, of all that was seen in the end.
    """
    at, ratio = np.full(policies, np.inf), np.zeros(policies)
    none = np.empty(0), np.empty(0, np.int64), np.empty((0, setting.arms))
    for policy in range(policies):
        at[policy], ratio[policy] = _lived(setting, lost, exposures, rng, account, none)
    return at, ratio


def account_error(setting: Setting, exposures: int, rng: Generator) -> float:
    """How far the compiled account is from the service's, relatively, at most."""
    told, played = np.full(exposures, np.nan), np.full(exposures, -1)
    odds = np.zeros((exposures, setting.arms))
    _lived(setting, setting.lost, exposures, rng, None, (told, played, odds))
    bets, error = RatioBets(setting.arms, 1 / FALSE_ALARMS), 0.0
    for total, arm, chances in zip(told, played, odds, strict=True):
        if np.isnan(total):  # the alarm
            break
        if arm >= 0:
            bets.see(np.eye(setting.arms)[arm], chances)
            error = max(error, abs(total / bets.total - 1))
    return error


def _lived(
    setting: Setting,
    lost: float,
    exposures: int,
    rng: Generator,
    account: Account | None,
    record: tuple[Array, NDArray[np.int64], Array],
) -> tuple[float, float]:
    """One policy."""
    its = account or Account.of_service()
    shape = setting.arms, 1
    steady = np.tile(its.of_losses / setting.arms, shape)
    aimed = np.tile(its.of_deadlines / setting.arms, shape)
    known = (setting.learns, setting.gap, lost, setting.lost, exposures)
    limits = (
        (its.goal, its.first, its.idle),
        (wealth._MOST, aimed_bets._LARGEST, aimed_bets._LEAST, aimed_bets._EVERY),
    )
    left = np.tile(its.deadlines, shape)
    waiting = 1 / (1 + np.log1p(np.arange(exposures + 1)))  # as `wealth._waiting`
    return _life(rng, known, limits, waiting, its.losses, (steady, aimed, left), record)


@_compiled
def _odds(scores: Array, learns: float) -> Array:
    """Propensities in fiftieths, with a floor of 2 %."""
    raw = np.exp(learns * (scores - scores.max()))
    share = np.floor(50 * raw / raw.sum()) / 50
    share[raw.argmax()] += 1 - share.sum()
    odds: Array = 0.98 * share + 0.02 / scores.size
    return odds


@_compiled
def _aim(
    money: Array, left: Array, shares: Array, goal: float, largest: float, least: float
) -> None:
    """As `AimedBets._aim`."""
    total = money.sum()
    for arm in range(money.shape[0]):
        for one in range(money.shape[1]):
            own, rest = money[arm, one], left[arm, one]
            part = min(max(own / max(goal - total + own, least), least), 1 - 1e-12)
            if rest <= 0:
                shares[arm, one] = 0.0
                continue
            density = np.exp(-(_quantile(part) ** 2) / 2) / np.sqrt(2 * np.pi)
            shares[arm, one] = min(density / (part * np.sqrt(max(rest, 1e-9))), largest)


@_compiled
def _life(
    rng: Generator,
    known: tuple[float, float, float, float, int],
    limits: tuple[tuple[float, float, float], tuple[float, float, float, int]],
    waiting: Array,
    losses: Array,
    bets: tuple[Array, Array, Array],
    record: tuple[Array, NDArray[np.int64], Array],
) -> tuple[float, float]:
    """Exposures of one policy: when it alarms, and the log likelihood ratio at the end."""
    learns, gap, lost, supposed, exposures = known
    (goal, first, idle), (most, largest, least, every) = limits
    steady, aimed, left = bets
    told, drawn, logged = record
    arms, count, ratio = steady.shape[0], 0, 0.0
    at = np.inf if lost == supposed else 0.0  # of another loss only the ratio is asked for
    weights, shares = (1 - first) * steady, np.zeros(aimed.shape)
    steady *= first
    later, total = weights.sum(), 0.0
    scores, odds = np.zeros(arms), np.full(arms, 1 / arms)
    inverse = np.empty(steady.shape)
    for step in range(1, exposures + 1):
        if step == 1 or (learns > 0 and step % 100 == 1):  # beliefs change slowly
            if learns > 0:
                odds = _odds(scores, learns)
            for arm in range(arms):
                inverse[arm] = 1 / (1 - odds[arm] * losses)
            if_played = np.log((1 - supposed) / (1 - supposed * odds[0]))
            if_not = -np.log(1 - supposed * odds[0])
        luck, played = rng.random(), 0
        below = odds[0]
        while played < arms - 1 and luck > below:
            played += 1
            below += odds[played]
        if learns > 0:
            reward = rng.random() < 0.3 + gap * (played == 0)
            scores[played] += (reward - 0.3) / (1 + step**0.5)
        seen = played != 0 or lost == 0 or rng.random() >= lost
        if seen:
            ratio += if_played if played == 0 else if_not
        if at < np.inf:
            continue
        if seen:
            if count % every == 0:
                others = steady.sum() + later * waiting[count] + idle
                _aim(aimed, left, shares, goal - others, largest, least)
            count += 1
            begun, total = waiting[count - 1] - waiting[count], later * waiting[count] + idle
            for arm in range(arms):
                is_it = 1.0 if arm == played else 0.0
                for one in range(aimed.shape[1]):
                    aimed[arm, one] *= 1 + shares[arm, one] * (odds[arm] - is_it)
                    left[arm, one] -= odds[arm] * (1 - odds[arm])
                    total += aimed[arm, one]
                for one in range(losses.size):
                    grown = steady[arm, one] + begun * weights[arm, one]
                    grown *= (1 - is_it * losses[one]) * inverse[arm, one]
                    steady[arm, one] = min(grown, most)
                    total += steady[arm, one]
        if told.size > 0:
            told[step - 1], logged[step - 1] = total, odds
            drawn[step - 1] = played if seen else -1
        if seen and total >= goal:
            at = step
    return at, ratio
