"""`python -m bench.guardrails`: how often a guardrail is wrong, and how soon right.

Every row simulates policies whose metric comes value by value, and looks at the evidence after each
value.  Rows "at the bound" hold what the test supposes, at its edge: the share of alarms there is
the false-alarm rate.  Rows "breaks" show what happens where what is supposed does not hold.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from hierbandits.service.bounded_mean import BoundedMean
from hierbandits.service.mean_difference import MeanDifference
from hierbandits.service.rollout_state import FALSE_ALARMS

Array = NDArray[np.float64]
Draw = Callable[[Generator, int, int], Array]
"""Values of this many policies, at a step."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A metric and its bound, both in [0, 1]."""

    name: str
    bound: float
    draw: Callable[[Generator, int], Draw]


def rare(rate: float) -> Callable[[Generator, int], Draw]:
    """Events of this rate."""

    def begin(rng: Generator, policies: int) -> Draw:
        return lambda rng, policies, step: (rng.random(policies) < rate).astype(float)

    return begin


def smooth(mean: float) -> Callable[[Generator, int], Draw]:
    """Values that spread over [0, 1]."""

    def begin(rng: Generator, policies: int) -> Draw:
        return lambda rng, policies, step: rng.beta(4 * mean, 4 * (1 - mean), policies)

    return begin


def heavy(mean: float, end: float) -> Callable[[Generator, int], Draw]:
    """Pareto's law of infinite variance; values beyond `end` times the mean count as that."""
    tail = 1.5

    def begin(rng: Generator, policies: int) -> Draw:
        least = mean * (tail - 1) / tail
        return lambda rng, policies, step: np.minimum(
            least * (1 + rng.pareto(tail, policies)) / (end * mean), 1.0
        )

    return begin


def similar(rate: float, tasks: int) -> Callable[[Generator, int], Draw]:
    """Events whose rate differs from task to task, with this mean; each policy has its tasks."""

    def begin(rng: Generator, policies: int) -> Draw:
        rates = rng.beta(10 * rate, 10 * (1 - rate), (policies, tasks))

        def draw(rng: Generator, policies: int, step: int) -> Array:
            own = rates[np.arange(policies), rng.integers(0, tasks, policies)]
            return (rng.random(policies) < own).astype(float)

        return draw

    return begin


def changing(before: float, after: float, at: int) -> Callable[[Generator, int], Draw]:
    """Events whose rate changes."""

    def begin(rng: Generator, policies: int) -> Draw:
        return lambda rng, policies, step: (
            rng.random(policies) < (before if step < at else after)
        ).astype(float)

    return begin


def swinging(rate: float, size: float, period: int) -> Callable[[Generator, int], Draw]:
    """Events whose rate goes up and down around this one."""

    def begin(rng: Generator, policies: int) -> Draw:
        return lambda rng, policies, step: (
            rng.random(policies) < rate * (1 + size * np.sin(2 * np.pi * step / period))
        ).astype(float)

    return begin


def in_rounds(rate: float, size: int) -> Callable[[Generator, int], Draw]:
    """Events of rounds that share their luck: rounds are bad or good, with this mean rate."""

    def begin(rng: Generator, policies: int) -> Draw:
        rates = np.full(policies, rate)

        def draw(rng: Generator, policies: int, step: int) -> Array:
            if step % size == 1:
                rates[:] = rate * rng.choice([0.5, 1.5], policies)
            return (rng.random(policies) < rates).astype(float)

        return draw

    return begin


SETTINGS = (
    Setting("at the bound: 1 % errors", 0.01, rare(0.01)),
    Setting("at the bound: 10 % errors", 0.1, rare(0.1)),
    Setting("at the bound: 50 % errors", 0.5, rare(0.5)),
    Setting("at the bound: a smooth metric", 0.3, smooth(0.3)),
    Setting("at the bound: a heavy tail, cut at 20 means", 0.05, heavy(1.0, 20.0)),
    Setting("below the bound: 8 % errors of 10 %", 0.1, rare(0.08)),
    Setting("bad: 1.5 % errors, bound 1 %", 0.01, rare(0.015)),
    Setting("bad: 2 % errors, bound 1 %", 0.01, rare(0.02)),
    Setting("bad: 12 % errors, bound 10 %", 0.1, rare(0.12)),
    Setting("bad: 15 % errors, bound 10 %", 0.1, rare(0.15)),
    Setting("bad: a heavy tail, mean 1.5 bounds", 0.05, heavy(1.5, 20.0 / 1.5)),
    Setting("bad late: 5 %, then 20 % after 2,500, bound 10 %", 0.1, changing(0.05, 0.2, 2500)),
    Setting("breaks: 1,000 tasks with rates of their own", 0.1, similar(0.1, 1000)),
    Setting("breaks: 20 tasks with rates of their own", 0.1, similar(0.1, 20)),
    Setting("breaks: rounds of 50 with 5 % or 15 % errors", 0.1, in_rounds(0.1, 50)),
    Setting("breaks: the rate swings by 20 %, 10 times", 0.1, swinging(0.1, 0.2, 500)),
    Setting("breaks: the rate swings by 50 %, once", 0.1, swinging(0.1, 0.5, 5000)),
)


def alarms(setting: Setting, policies: int, values: int, rng: Generator) -> Array:
    """For each policy the number of values at its alarm; inf if it has none."""
    mean, at = BoundedMean(setting.bound, (policies,)), np.full(policies, np.inf)
    draw = setting.draw(rng, policies)
    for step in range(1, values + 1):
        mean.add(draw(rng, policies, step))
        at[(mean.evidence >= 1 / FALSE_ALARMS) & (at == np.inf)] = step
    return at


CONTROLS = (
    ("at the margin: 11 % errors, control 10 %, margin 1 %", 0.11, 0.1, 2_000),
    ("bad: 15 % errors, control 10 %, margin 1 %", 0.15, 0.1, 10_000),
    ("bad: 20 % errors, control 10 %, margin 1 %", 0.2, 0.1, 10_000),
    ("bad: 50 % errors, control 40 %, margin 1 %", 0.5, 0.4, 10_000),
)
"""Rates of a policy and of its control, each of which gets half of so many decisions."""

BAD = 200
"""The bad policies that are tried against a control, at most; they take long."""


def alarm_against_control(policy: float, control: float, values: int, rng: Generator) -> float:
    """The number of values at the alarm of one policy; inf if it has none."""
    judge = MeanDifference(0.01)
    for step in range(1, values + 1):
        is_control = bool(rng.random() < 0.5)
        rate = control if is_control else policy
        judge.add(float(rng.random() < rate), is_control=is_control)
        if judge.evidence >= 1 / FALSE_ALARMS:
            return step
    return np.inf


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--policies", type=int, default=10_000)
    parser.add_argument("--values", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--control", type=int, default=0, help="policies against a control")
    given = parser.parse_args()
    for place, (name, policy, control, values) in enumerate(CONTROLS if given.control else ()):
        rng = np.random.default_rng([given.seed, 1000 + place])
        number = given.control if place == 0 else min(given.control, BAD)
        found = [alarm_against_control(policy, control, values, rng) for _ in range(number)]
        share = float(np.mean(np.isfinite(found)))
        print(f"{name:55} {number:6,} policies: {share:7.2%} alarm, median at "
              f"{np.median(found):,.0f}", flush=True)  # fmt: skip
    if given.control:
        return
    print(f"{given.policies:,} policies, {given.values:,} values each; alarm at 100 to 1")
    for place, setting in enumerate(SETTINGS):
        rng = np.random.default_rng([given.seed, place])
        at = alarms(setting, given.policies, given.values, rng)
        share = float(np.mean(at < np.inf))
        print(f"{setting.name:50} {share:7.2%} alarm, median at {np.median(at):,.0f}", flush=True)


if __name__ == "__main__":
    main()
