"""`python -m bench.worst_moments`: how far agents of clicks and counts are from their own refits.

After every fifth reward from the 20th on; the worst of these moments in a whole life, and the worst
of several lives.  `--late` lets all clicks come late instead, after their defaults.
"""

import argparse
from typing import Any

import numpy as np

import hierbandits as hb
from hierbandits.beliefs.matched_belief import MatchedBelief

REWARDS, TASKS, ARMS = 600, 20, 3
RATES = {"50 %": 0.0, "6 %": -2.75}  # log odds, or the log of a mean count
TABLE = {"a": [1.0, 0.0, 0.0], "b": [1.0, 1.0, 0.0], "c": [1.0, 0.0, 1.0]}
KINDS = ("arms", "features", "arms, no prior", "features, no prior")


def main() -> None:
    """Print a row for each kind of agent, family and rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=4)
    parser.add_argument("--late", action="store_true", help="clicks come after their defaults")
    options = parser.parse_args()
    print("| rewards | rate | prior's width | means, largest error | widths, largest error |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        for family, word in (("bernoulli", "clicks"), ("poisson", "counts")):
            for rate in RATES:
                for std in (2.0, 5.0) if "no prior" not in kind else (None,):
                    lives = range(options.lives)
                    worst = [
                        life(kind, family, rate, std, seed, late=options.late) for seed in lives
                    ]
                    shift, width = np.max(worst, axis=0)
                    about = f"{word}, {kind} | {rate} | {'learned' if std is None else f'{std:g}'}"
                    print(f"| {about} | {shift:.3f} | {100 * width:.1f} % |", flush=True)


def life(
    kind: str, family: str, rate: str, std: float | None, seed: int, *, late: bool
) -> tuple[float, float]:
    """The largest errors of a mean, in standard deviations, and of a width, at any moment."""
    rng, now, worst = np.random.default_rng(seed), [0.0], [(0.0, 0.0)]
    agent = _agent(kind, family, std, lambda: now[0])
    eta = rng.normal(RATES[rate], 0.5, (TASKS, ARMS))
    waiting = []
    for number in range(1, REWARDS + 1):
        task = int(rng.integers(0, TASKS))
        decision = agent.decide(task)
        log = eta[task, list(TABLE).index(str(decision.arm))]
        odds = 1 / (1 + np.exp(-log))
        reward = float(rng.random() < odds if family == "bernoulli" else rng.poisson(np.exp(log)))
        if not late:
            agent.reward(decision.id, reward)
        elif reward > 0:
            waiting.append((decision.id, reward))
        if not late and number >= 20 and number % 5 == 0:
            worst.append(_errors(agent.belief))
    if late:
        now[0] = 10.0
        agent.expire(5.0, default=0.0)
        for id, reward in waiting:
            agent.reward(id, reward)
            worst.append(_errors(agent.belief))
    shift, width = np.max(worst, axis=0)
    return float(shift), float(width)


def _agent(kind: str, family: str, std: float | None, clock: Any) -> hb.Agent:
    given = {"rewards": family, "policy": "HierTS", "seed": 0, "clock": clock}
    if std is None:
        return hb.Agent(arms=TABLE if "features" in kind else list(TABLE), **given)
    form = hb.GaussianHierarchy.armed if kind == "arms" else hb.GaussianHierarchy.linear
    prior: Any = form(ARMS, hyper_std=std, task_std=0.5, noise_std=1.0)
    return hb.Agent(prior, arms=TABLE if kind == "features" else list(TABLE), **given)


def _errors(belief: Any) -> tuple[float, float]:
    """Of the hyper-posterior, beside that of its own refit, under the same widths."""
    refitted = belief.copy()
    MatchedBelief.refit(refitted, tolerance=1e-6, sweeps=200)
    own, its = belief.hyper(), refitted.hyper()
    shift, width = np.abs((own.mean - its.mean) / its.std), np.abs(own.std / its.std - 1)
    return float(shift.max()), float(width.max())


if __name__ == "__main__":
    main()
