"""`python -m bench.sample_ratio`: how often the sample-ratio check is wrong, and how soon right.

Policies with two or more arms draw the arm of each exposure with propensities that change as they
learn, in fiftieths, as 50 draws give them.  Without a fault, the share of policies that ever alarm
is the false-alarm rate.  With a fault, a share of one arm's exposures is never seen.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.service.rollout_state import FALSE_ALARMS
from hierbandits.service.sample_ratio import ratio_factors, ratio_wealth
from hierbandits.service.wealth import Array


@dataclass(frozen=True, slots=True)
class Setting:
    """How propensities come about, and what share of the first arm's exposures is lost."""

    name: str
    arms: int = 2
    learns: float = 0.0  # how fast propensities follow rewards; 0 is even for ever
    gap: float = 0.0  # of the first arm's mean reward to the others
    lost: float = 0.0
    part: float = 1.0  # of the exposures, to save time


SETTINGS = (
    Setting("no loss, 2 arms, even"),
    Setting("no loss, 2 arms, learning", learns=2.0, gap=0.05),
    Setting("no loss, 5 arms, learning", arms=5, learns=2.0, gap=0.05, part=0.1),
    Setting("2 % lost, 2 arms, even", lost=0.02),
    Setting("2 % lost, 2 arms, learning, equal", learns=2.0, lost=0.02),
    Setting("2 % lost, 2 arms, learning, 0.05 apart", learns=2.0, gap=0.05, lost=0.02),
    Setting("2 % lost, 3 arms, even", arms=3, lost=0.02),
    Setting("10 % lost, 5 arms, even", arms=5, lost=0.1),
)


def alarms(setting: Setting, policies: int, exposures: int, rng: Generator) -> Array:
    """For each policy the number of exposures, seen or lost, at its alarm; inf if it has none."""
    shape = policies, setting.arms
    wealth, at = ratio_wealth(setting.arms, (policies,)), np.full(policies, np.inf)
    scores, rows = np.zeros(shape), np.arange(policies)
    means = 0.3 + setting.gap * (np.arange(setting.arms) == 0)
    odds = np.full(shape, 1 / setting.arms)
    for step in range(1, exposures + 1):
        if setting.learns and step % 100 == 1:  # beliefs change slowly
            odds = _odds(scores, setting.learns)
        played = _drawn(odds, rng)
        if setting.learns:
            reward = rng.random(policies) < means[played]
            scores[rows, played] += (reward - 0.3) / (1 + step**0.5)
        seen = (played != 0) | (rng.random(policies) >= setting.lost)
        factors = ratio_factors(np.eye(setting.arms)[played], odds)
        factors[~seen] = 1.0
        wealth.grow(factors)
        at[(wealth.total >= 1 / FALSE_ALARMS) & (at == np.inf)] = step
    return at


def _odds(scores: Array, learns: float) -> Array:
    """Propensities in fiftieths, with a floor of 2 %."""
    raw = np.exp(learns * (scores - scores.max(axis=1, keepdims=True)))
    share = np.floor(50 * raw / raw.sum(axis=1, keepdims=True)) / 50
    share[np.arange(len(share)), raw.argmax(axis=1)] += 1 - share.sum(axis=1)
    odds: Array = 0.98 * share + 0.02 / scores.shape[1]
    return odds


def _drawn(odds: Array, rng: Generator) -> Array:
    """An arm for each policy."""
    below = np.cumsum(odds, axis=1) < rng.random(len(odds))[:, None]
    arms: Array = np.minimum(below.sum(axis=1), odds.shape[1] - 1)
    return arms


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--policies", type=int, default=10_000)
    parser.add_argument("--faulty", type=int, default=1_000, help="policies with a fault")
    parser.add_argument("--exposures", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"an alarm at {1 / FALSE_ALARMS:.0f} to 1")
    for place, setting in enumerate(SETTINGS):
        rng = np.random.default_rng([given.seed, place])
        policies = given.faulty if setting.lost else given.policies
        exposures = round(setting.part * given.exposures)
        at = alarms(setting, policies, exposures, rng)
        rate, middle = float(np.mean(at < np.inf)), np.median(at)
        print(
            f"{setting.name:42} {policies:6,} policies, {exposures:8,} exposures: "
            f"{rate:7.2%} alarm, median at {middle:,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
