"""Information-directed sampling: the two arms, and the mixture of them, that learn at least cost.

Over M draws of the values of an event's arms, let arm a's shortfall be the mean of what the best
arm of a draw is worth more than a, and let its insight be the variance of the mean of a's value
given which arm is best.  Of all mixtures of arms, the one that minimises

    (mean shortfall)^2 / (mean insight)

mixes at most two of them (Russo and Van Roy, 2014).
"""

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.types import Indices, Mask, Matrix, Vector


@inlined
def weigh(values: Matrix, draws: int, size: int, wins: Vector, given: Matrix, costs: Matrix) -> int:
    """Fill the shortfall and the insight of each arm, costs[0] and costs[1].

    Returns the arm that is best in all draws, or -1.
    """
    for a in range(size):
        wins[a], costs[0, a], costs[1, a] = 0.0, 0.0, 0.0
        for b in range(size):
            given[a, b] = 0.0
    for m in range(draws):
        best = 0
        for a in range(1, size):
            if values[m, a] > values[m, best]:
                best = a
        wins[best] += 1.0
        for a in range(size):
            costs[0, a] += values[m, best] - values[m, a]
            given[best, a] += values[m, a]
    for a in range(size):
        if wins[a] == draws:
            return a
        costs[0, a] /= draws
    for a in range(size):
        mean = 0.0
        for best in range(size):
            mean += given[best, a]
        mean /= draws
        for best in range(size):
            if wins[best] > 0.0:
                off = given[best, a] / wins[best] - mean
                costs[1, a] += wins[best] / draws * off * off
    return -1


@inlined
def mixture(costs: Matrix, size: int) -> tuple[int, int, float]:
    """The two arms of least (mean shortfall)^2 / (mean insight), and the share of the first."""
    first = second = 0
    share, least = 1.0, np.inf
    for a in range(size):  # if no arm has a insight, the one of least shortfall
        if costs[0, a] < costs[0, first]:
            first = second = a
    for a in range(size):
        for b in range(a, size):
            p = 1.0
            slope, rise = costs[0, a] - costs[0, b], costs[1, a] - costs[1, b]
            if b > a:
                if slope == 0.0 or rise == 0.0:
                    continue  # a single arm does as well
                p = costs[0, b] / slope - 2.0 * costs[1, b] / rise  # where the derivative is 0
                if not 0.0 < p < 1.0:
                    continue
            insight = p * costs[1, a] + (1.0 - p) * costs[1, b]
            cost = p * costs[0, a] + (1.0 - p) * costs[0, b]
            if insight > 0.0 and cost * cost < least * insight:
                first, second, share, least = a, b, p, cost * cost / insight
    return first, second, share


@inlined
def decide(
    values: Matrix, draws: int, size: int, wins: Vector, given: Matrix, costs: Matrix
) -> tuple[int, int, float]:
    """The two arms to play and the share of the first, from M draws of the arms' values."""
    sure = weigh(values, draws, size, wins, given, costs)
    return (sure, sure, 1.0) if sure >= 0 else mixture(costs, size)


@inlined
def most_arms(offset: Indices) -> int:
    """The number of arms of the event that has most."""
    most = 0
    for e in range(offset.size - 1):
        most = max(most, offset[e + 1] - offset[e])
    return most


@compiled
def pairs_linear(
    theta: Matrix, slots: Indices, arms: ArmArrays, pair: Indices, share: Vector
) -> None:
    """The numbers of each event's two arms, (2, E), and the share of the first, (E,).

    `slots` are the rows of theta of the events, draw after draw, (draws * E,).
    """
    table, rows, start, offset, base = arms
    most, num_events, dim = most_arms(offset), start.size, theta.shape[1]
    draws = slots.size // max(num_events, 1)
    values, wins = np.empty((draws, most)), np.empty(most)
    given, costs = np.empty((most, most)), np.empty((2, most))
    for e in range(num_events):
        size = offset[e + 1] - offset[e]
        for m in range(draws):
            slot = slots[m * num_events + e]
            for k in range(size):
                total = 0.0
                for i in range(dim):
                    total += table[rows[start[e] + k], i] * theta[slot, i]
                values[m, k] = total
        first, second, share[e] = decide(values, draws, size, wins, given, costs)
        pair[0, e] = rows[start[e] + first] - base[e]
        pair[1, e] = rows[start[e] + second] - base[e]


@compiled
def pairs_armed(
    theta: Matrix, slots: Indices, arms: ArmArrays, pair: Indices, share: Vector
) -> None:
    """As `pairs_linear`, where an arm's value is its own entry of theta."""
    table, rows, start, offset, base = arms
    most, num_events = most_arms(offset), start.size
    draws = slots.size // max(num_events, 1)
    values, wins = np.empty((draws, most)), np.empty(most)
    given, costs = np.empty((most, most)), np.empty((2, most))
    for e in range(num_events):
        size = offset[e + 1] - offset[e]
        for m in range(draws):
            slot = slots[m * num_events + e]
            for k in range(size):
                values[m, k] = theta[slot, table[rows[start[e] + k]]]
        first, second, share[e] = decide(values, draws, size, wins, given, costs)
        pair[0, e] = rows[start[e] + first] - base[e]
        pair[1, e] = rows[start[e] + second] - base[e]


@compiled
def mixture_shares(values: Matrix, eligible: Mask, out: Matrix) -> None:
    """Add each event's mixture to its row of `out`, (n, K), of values (n, draws, K)."""
    num_events, draws, num_arms = values.shape
    own, wins = np.empty((draws, num_arms)), np.empty(num_arms)
    given, costs = np.empty((num_arms, num_arms)), np.empty((2, num_arms))
    arm = np.empty(num_arms, np.intp)
    for e in range(num_events):
        size = 0
        for k in range(num_arms):
            if eligible[e, k]:
                for m in range(draws):
                    own[m, size] = values[e, m, k]
                arm[size] = k
                size += 1
        first, second, share = decide(own, draws, size, wins, given, costs)
        out[e, arm[first]] += share
        out[e, arm[second]] += 1.0 - share
