"""`python -m bench.sample_ratio`: how often the sample-ratio check is wrong, and how soon right.

Policies with two or more arms draw the arm of each exposure with propensities that change as they
learn, in fiftieths, as 50 draws give them.  Without a fault, the share of policies that ever alarm
is the false-alarm rate.  With a fault, a share of one arm's exposures is never seen.  The limit is
the power of the most powerful test of 1 % (Neyman and Pearson): it knows the arm and the share that
is lost, and looks once, after all exposures.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from hierbandits.service.rollout_state import FALSE_ALARMS
from hierbandits.service.sample_ratio import RatioBets
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


BLOCK = 1_000
"""Policies that are simulated together; the processes share the blocks."""


def simulated(
    setting: Setting, policies: int, exposures: int, lost: float, rng: Generator
) -> tuple[Array, Array]:
    """For each policy the exposures, seen or lost, at its alarm, inf if it has none; and the log
    likelihood ratio of the setting's own loss, of all that was seen in the end.
    """
    shape = policies, setting.arms
    bets, at = RatioBets(setting.arms, 1 / FALSE_ALARMS, (policies,)), np.full(policies, np.inf)
    ratio = np.zeros(policies)
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
        seen = (played != 0) | (rng.random(policies) >= lost)
        ratio += seen * np.log((1 - setting.lost * (played == 0)) / (1 - setting.lost * odds[:, 0]))
        if lost == setting.lost:
            bets.see(np.eye(setting.arms)[played], odds, seen)
            at[(bets.total >= 1 / FALSE_ALARMS) & (at == np.inf)] = step
    return at, ratio


def _block(job: tuple[int, int, int, int, float]) -> tuple[Array, Array]:
    """One block of policies of a setting: its place, the seed, exposures, block and loss."""
    place, seed, exposures, block, lost = job
    rng = np.random.default_rng([seed, place, block, round(1000 * lost)])
    return simulated(SETTINGS[place], BLOCK, exposures, lost, rng)


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
    parser.add_argument("--policies", type=int, default=10_000, help="a multiple of 1,000")
    parser.add_argument("--faulty", type=int, default=1_000, help="policies with a fault")
    parser.add_argument("--exposures", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"an alarm at {1 / FALSE_ALARMS:.0f} to 1")
    with ProcessPoolExecutor() as pool:
        asked = []
        for place, setting in enumerate(SETTINGS):
            policies = given.faulty if setting.lost else given.policies
            exposures = round(setting.part * given.exposures)
            for lost in (0.0, setting.lost) if setting.lost else (0.0,):
                jobs = [
                    (place, given.seed, exposures, block, lost)
                    for block in range(policies // BLOCK)
                ]
                asked.append((setting, lost, exposures, [pool.submit(_block, job) for job in jobs]))
        limits: dict[str, float] = {}
        for setting, lost, exposures, blocks in asked:
            rows = [block.result() for block in blocks]
            at, ratio = (np.concatenate(part) for part in zip(*rows, strict=True))
            if lost != setting.lost:
                limits[setting.name] = float(np.quantile(ratio, 1 - FALSE_ALARMS))
                continue
            found = f"{np.mean(at < np.inf):7.2%} alarm, median at {np.median(at):9,.0f}"
            if setting.name in limits:
                found += f"; limit {np.mean(ratio > limits[setting.name]):6.1%}"
            print(f"{setting.name:42} {len(at):6,} policies, {exposures:8,} exposures: {found}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
