"""Whether the propensities that the service logs are the frequencies of what it plays."""

from collections import Counter

import numpy as np
from scipy.integrate import quad
from scipy.stats import binom, chi2, norm

from support.served_truth import ARMS
from support.service_desk import Desk

TASKS = [f"task-{place}" for place in range(20)]
_LEAST = 5.0  # plays that are expected in a cell of a chi-square test


class Plays:
    """Rounds of a policy that learns nothing more; each has one decision for each task.

    Given the belief, rounds are independent of each other.  Tasks of one round are not: they share
    a draw of what they have in common.
    """

    def __init__(self, desk, draws):
        self._desk, self._draws = desk, draws
        self.seen = {task: Counter() for task in TASKS}  # (arm, propensity): plays
        self.rounds = 0
        values = np.random.default_rng(11).normal(size=(len(TASKS), len(ARMS)))
        self._worth = {
            (task, arm): float(value)
            for task, row in zip(TASKS, values, strict=True)
            for arm, value in zip(ARMS, row, strict=True)
        }
        self._truth, self._estimates = float(values.mean(1).sum()), []
        self._weights = []  # of each round, by arm

    @classmethod
    async def begin(cls, folder, **settings):
        """A policy that has learned something of every task."""
        settings = {"draws": 10, "reward_wait": 1.0} | settings
        desk, rng = await Desk(folder).create(**settings), np.random.default_rng(9)
        for _ in range(3):
            made = await desk.decide_round([None] * len(TASKS), TASKS)
            await desk.call("reward", [(one.id, float(rng.normal(0.3))) for one in made])
        return cls(desk, settings["draws"])

    async def go_on(self, rounds):
        """Play so many rounds more; nobody is left waiting for a reward."""
        for _ in range(rounds):
            made = await self._desk.decide_round([None] * len(TASKS), TASKS)
            for one in made:
                self.seen[one.task][one.arm, round(one.propensity, 12)] += 1
            self._weights.append(
                [sum(1 / one.propensity for one in made if one.arm == arm) for arm in ARMS]
            )
            earned = [self._worth[one.task, one.arm] / one.propensity for one in made]
            self._estimates.append(sum(earned) / len(ARMS))
            self.rounds += 1
            if self.rounds % 50 == 0:
                self._desk.now += 10.0
                await self._desk.call("expire")

    def p_values(self, floor):
        """For each task, of the chi-square test that arms and propensities are as they must be.

        A count k of `draws` is binomial with the arm's chance q of being the best of a posterior
        draw; its propensity is p = floor / K + (1 - floor) k / draws, and it is played so often.
        """
        table = self._desk.live.agent.table()
        shape = len(TASKS), len(ARMS)
        means = np.reshape(table["mean"], shape)
        stds = np.sqrt(np.add(table["within_var"], table["shared_var"])).reshape(shape)
        found = []
        for row, task in enumerate(TASKS):
            cells = {}
            for place, arm in enumerate(ARMS):
                chance = _chance_to_be_best(place, means[row], stds[row])
                for k in range(self._draws + 1):
                    p = floor / len(ARMS) + (1 - floor) * k / self._draws
                    cells[arm, round(p, 12)] = binom.pmf(k, self._draws, chance) * p
            found.append(_p_value(self.seen[task], cells, self.rounds))
        return found

    def p_value_of_weights(self):
        """Of the chi-square test that plays over their propensity count each arm once a decision.

        It holds for any rule that may play every arm; a round is one vector, with all its tasks.
        """
        weights = np.array(self._weights)
        off = weights.mean(0) - len(TASKS)
        square = self.rounds * off @ np.linalg.solve(np.cov(weights.T), off)
        return float(chi2.sf(square, len(ARMS)))

    def standard_errors(self):
        """How far the inverse-propensity estimate of playing uniformly is from the truth."""
        values = np.array(self._estimates)
        return float((values.mean() - self._truth) / (values.std(ddof=1) / len(values) ** 0.5))


def _chance_to_be_best(place, means, stds):
    """That one of several independent Gaussians is the highest."""

    others = [i for i in range(len(means)) if i != place]

    def density(x):
        below = np.prod(norm.cdf(x, means[others], stds[others]))
        return norm.pdf(x, means[place], stds[place]) * below

    mean, std = means[place], stds[place]
    return quad(density, mean - 9 * std, mean + 9 * std, limit=200, points=[mean])[0]


def _p_value(seen, cells, number):
    """Pearson's test; cells where little is expected are one."""
    assert set(seen) <= set(cells), set(seen) - set(cells)
    rows = sorted((share * number, seen.get(cell, 0)) for cell, share in cells.items())
    kept, few = [], np.zeros(2)
    for row in rows:
        if few[0] < _LEAST:
            few += row
        else:
            kept.append(row)
    kept.append(tuple(few))
    expected, plays = np.array(kept).T
    if len(kept) == 1:
        return 1.0
    return float(chi2.sf(((plays - expected) ** 2 / expected).sum(), len(kept) - 1))
