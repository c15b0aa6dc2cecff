"""Information-directed sampling: the two arms, and the mixture of them, that learn at least cost.

Over M draws of the values of an event's arms, let arm a's shortfall be the mean of what the best
arm of a draw is worth more than a, and let its insight be the variance of the mean of a's value
given which arm is best.  Of all mixtures of arms, the one that minimises

    (mean shortfall)^2 / (mean insight)

mixes at most two of them (Russo and Van Roy, 2014).

Draws come in pairs, on the two sides of the mean: half as many draws are then as good.
"""

from math import erf, sqrt

import numpy as np

from hierbandits.compiler import compiled, inlined
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.types import Indices, Mask, Matrix, Vector


@inlined
def weigh(
    values: Matrix,
    draws: int,
    size: int,
    winner: Indices,
    wins: Vector,
    given: Matrix,
    costs: Matrix,
) -> int:
    """Fill the shortfall and the insight of each arm, costs[0] and costs[1].

    Row w of `given` has the sums of all arms over the draws in which arm winner[w] is best, which
    are wins[w].  Returns the arm that is best in all draws, or -1.
    """
    for a in range(size):
        costs[0, a], costs[1, a] = 0.0, 0.0
    winners = 0
    for m in range(draws):
        best = 0
        for a in range(1, size):
            if values[m, a] > values[m, best]:
                best = a
        w = 0
        while w < winners and winner[w] != best:
            w += 1
        if w == winners:
            winner[w], wins[w], winners = best, 0.0, winners + 1
            for a in range(size):
                given[w, a] = 0.0
        wins[w] += 1.0
        for a in range(size):
            costs[0, a] += values[m, best] - values[m, a]
            given[w, a] += values[m, a]
    if winners == 1:
        sure: int = winner[0]
        return sure
    for a in range(size):
        mean = 0.0
        for w in range(winners):
            mean += given[w, a]
        mean /= draws
        for w in range(winners):
            off = given[w, a] / wins[w] - mean
            costs[1, a] += wins[w] / draws * off * off
        costs[0, a] /= draws
    return -1


@inlined
def mixture(costs: Matrix, size: int) -> tuple[int, int, float]:
    """The two arms of least (mean shortfall)^2 / (mean insight), and the share of the first.

    The mixtures that tell most for their shortfall are those of neighbours on a concave line,
    which begins at the arm of least shortfall.  Along this line the ratio first falls and then
    rises.
    """
    first = 0
    for a in range(1, size):
        less = costs[0, first] - costs[0, a]
        if less > 0.0 or (less == 0.0 and costs[1, a] > costs[1, first]):
            first = a
    while True:
        second, steepest = first, 0.0
        for a in range(size):
            rise, further = costs[1, a] - costs[1, first], costs[0, a] - costs[0, first]
            if rise > 0.0 and further > 0.0 and rise > steepest * further:
                second, steepest = a, rise / further
        if second == first:
            return first, first, 1.0
        further = costs[0, second] - costs[0, first]
        share = costs[0, first] / further - 2.0 * costs[1, first] / (steepest * further)
        if share <= 0.0:  # of the second, where the derivative of the ratio is 0
            return first, first, 1.0
        if share < 1.0:
            return first, second, 1.0 - share
        first = second


@inlined
def decide(
    values: Matrix,
    draws: int,
    size: int,
    winner: Indices,
    wins: Vector,
    given: Matrix,
    costs: Matrix,
) -> tuple[int, int, float]:
    """The two arms to play and the share of the first, from M draws of the arms' values."""
    sure = weigh(values, draws, size, winner, wins, given, costs)
    return (sure, sure, 1.0) if sure >= 0 else mixture(costs, size)


@inlined
def room(draws: int, size: int) -> tuple[Matrix, Indices, Vector, Matrix, Matrix]:
    """Room for the values of so many arms, and for what `decide` needs besides."""
    values, given, costs = np.empty((draws, size)), np.empty((draws, size)), np.empty((2, size))
    return values, np.empty(draws, np.intp), np.empty(draws), given, costs


@inlined
def most_arms(offset: Indices) -> int:
    """The number of arms of the event that has most."""
    most = 0
    for e in range(offset.size - 1):
        most = max(most, offset[e + 1] - offset[e])
    return most


@inlined
def dot(x: Vector, theta: Vector) -> float:
    """x @ theta."""
    total = 0.0
    for i in range(theta.size):
        total += x[i] * theta[i]
    return total


@compiled
def pairs_linear(
    means: Matrix,
    theta: Matrix,
    slots: Indices,
    arms: ArmArrays,
    pair: Indices,
    share: Vector,
) -> None:
    """The numbers of each event's two arms, (2, E), and the share of the first, (E,).

    `means` are those of the events' parameters, (E, d).  `slots` are the rows of theta of the
    events, draw after draw, (draws * E,); each draw has a mirror image.
    """
    table, rows, start, offset, base = arms
    num_events = start.size
    draws = slots.size // max(num_events, 1)
    values, winner, wins, given, costs = room(2 * draws, most_arms(offset))
    for e in range(num_events):
        size = offset[e + 1] - offset[e]
        for k in range(size):
            x = table[rows[start[e] + k]]
            twice = 2.0 * dot(x, means[e])
            for m in range(draws):
                values[m, k] = dot(x, theta[slots[m * num_events + e]])
                values[draws + m, k] = twice - values[m, k]
        parts = decide(values, 2 * draws, size, winner, wins, given, costs)
        pair[0, e] = rows[start[e] + parts[0]] - base[e]
        pair[1, e] = rows[start[e] + parts[1]] - base[e]
        share[e] = parts[2]


@compiled
def pairs_armed(
    means: Matrix,
    theta: Matrix,
    slots: Indices,
    arms: ArmArrays,
    pair: Indices,
    share: Vector,
) -> None:
    """As `pairs_linear`, where an arm's value is its own entry of theta."""
    table, rows, start, offset, base = arms
    num_events = start.size
    draws = slots.size // max(num_events, 1)
    values, winner, wins, given, costs = room(2 * draws, most_arms(offset))
    for e in range(num_events):
        size = offset[e + 1] - offset[e]
        for k in range(size):
            arm = table[rows[start[e] + k]]
            for m in range(draws):
                values[m, k] = theta[slots[m * num_events + e], arm]
                values[draws + m, k] = 2.0 * means[e, arm] - values[m, k]
        parts = decide(values, 2 * draws, size, winner, wins, given, costs)
        pair[0, e] = rows[start[e] + parts[0]] - base[e]
        pair[1, e] = rows[start[e] + parts[1]] - base[e]
        share[e] = parts[2]


@inlined
def picked(first: int, second: int, share: float, normal: float) -> int:
    """The first with the probability `share`, else the second, by a standard normal."""
    return first if 0.5 + 0.5 * erf(normal / sqrt(2.0)) < share else second


@compiled
def row_linear(theta: Matrix, table: Matrix, normal: float) -> int:
    """The row of a table that one event plays; theta has its mean, and below it the draws."""
    draws, size = len(theta) - 1, len(table)
    values, winner, wins, given, costs = room(2 * draws, size)
    for k in range(size):
        twice = 2.0 * dot(table[k], theta[0])
        for m in range(draws):
            values[m, k] = dot(table[k], theta[1 + m])
            values[draws + m, k] = twice - values[m, k]
    parts = decide(values, 2 * draws, size, winner, wins, given, costs)
    return picked(parts[0], parts[1], parts[2], normal)


@compiled
def row_armed(theta: Matrix, table: Indices, normal: float) -> int:
    """As `row_linear`, where an arm's value is its own entry of theta."""
    draws, size = len(theta) - 1, len(table)
    values, winner, wins, given, costs = room(2 * draws, size)
    for k in range(size):
        arm = table[k]
        for m in range(draws):
            values[m, k] = theta[1 + m, arm]
            values[draws + m, k] = 2.0 * theta[0, arm] - values[m, k]
    parts = decide(values, 2 * draws, size, winner, wins, given, costs)
    return picked(parts[0], parts[1], parts[2], normal)


@compiled
def mixture_shares(values: Matrix, eligible: Mask, out: Matrix) -> None:
    """Add each event's mixture to its row of `out`, (n, K), of values (n, draws, K)."""
    num_events, draws, num_arms = values.shape
    own, winner, wins, given, costs = room(draws, num_arms)
    arm = np.empty(num_arms, np.intp)
    for e in range(num_events):
        size = 0
        for k in range(num_arms):
            if eligible[e, k]:
                for m in range(draws):
                    own[m, size] = values[e, m, k]
                arm[size] = k
                size += 1
        first, second, share = decide(own, draws, size, winner, wins, given, costs)
        out[e, arm[first]] += share
        out[e, arm[second]] += 1.0 - share
