"""`python -m bench.sample_ratio`: how often the sample-ratio check is wrong, and how soon right.

Policies with two or more arms draw the arm of each exposure with propensities that change as they
learn, in fiftieths, as 50 draws give them.  Without a fault, the share of policies that ever alarm
is the false-alarm rate.  With a fault, a share of one arm's exposures is never seen.  The limit is
the power of the most powerful test of 1 % (Neyman and Pearson): it knows the arm and the share that
is lost, and looks once, after all exposures.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from bench.ratio_policies import Setting, account_error, simulated
from hierbandits.service.rollout_state import FALSE_ALARMS
from hierbandits.service.wealth import Array

SETTINGS = (
    Setting("no loss, 2 arms, even"),
    Setting("no loss, 2 arms, learning", learns=2.0, gap=0.05),
    Setting("no loss, 5 arms, learning", arms=5, learns=2.0, gap=0.05, part=0.1),
    Setting("2 % lost, 2 arms, even", lost=0.02),
    Setting("2 % lost, 3 arms, even", arms=3, lost=0.02),
    Setting("2 % lost, 2 arms, learning, equal", learns=2.0, lost=0.02),
    Setting("2 % lost, 2 arms, learning, 0.05 apart", learns=2.0, gap=0.05, lost=0.02),
    Setting("10 % lost, 5 arms, even", arms=5, lost=0.1),
)


BLOCK = 500
"""Policies that are simulated in one go; the processes share the blocks."""


def _block(job: tuple[int, int, int, int, float]) -> tuple[Array, Array]:
    """One block of policies of a setting: its place, the seed, exposures, block and loss."""
    place, seed, exposures, block, lost = job
    rng = np.random.default_rng([seed, place, block, round(1000 * lost)])
    return simulated(SETTINGS[place], lost, exposures, BLOCK, rng)


def _error(seed: int) -> float:
    """How far the simulation is from the service's own account, over all settings."""
    rng = np.random.default_rng([seed, len(SETTINGS)])
    return max(account_error(setting, 20_000, rng) for setting in SETTINGS)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--policies", type=int, default=10_000, help="a multiple of 500")
    parser.add_argument("--faulty", type=int, default=2_000, help="policies with a fault")
    parser.add_argument("--exposures", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"an alarm at {1 / FALSE_ALARMS:.0f} to 1")
    with ProcessPoolExecutor() as pool:
        error = pool.submit(_error, given.seed)
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
        print(f"the compiled account is within {error.result():.0e} of the service's", flush=True)
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
