"""What tasks tell their parent, and what it knows then, by exact fractions of the sums."""

from fractions import Fraction

import numpy as np

from support.oracle import full


def exact_message(task_cov, precision, weighted):
    """C = (I + A Sigma)^-1 A and b = (I + A Sigma)^-1 B of one task, as fractions."""
    a, b, cov = fractions(precision), fractions(weighted[:, None]), fractions(task_cov)
    inner = product(a, cov)
    for i, row in enumerate(inner):
        row[i] += 1
    solved = solve(inner, [[*one, *two] for one, two in zip(a, b, strict=True)])
    return [row[:-1] for row in solved], [row[-1] for row in solved]


def exact_parent(prior, messages):
    """The hyper-posterior given the messages of all tasks: its mean and covariance, as floats."""
    dim = prior.dim
    precision = solve(fractions(full(prior.hyper_cov)), fractions(np.eye(dim)))
    mean = [Fraction(float(value)) for value in prior.hyper_mean]
    weighted = [sum(p * m for p, m in zip(row, mean, strict=True)) for row in precision]
    for told, told_weighted in messages:
        precision = total(precision, told)
        weighted = [w + b for w, b in zip(weighted, told_weighted, strict=True)]
    solved = solve(
        precision, [[*row, w] for row, w in zip(fractions(np.eye(dim)), weighted, strict=True)]
    )
    return np.array([float(row[-1]) for row in solved]), np.array(
        [[float(value) for value in row[:-1]] for row in solved]
    )


def exact_hyper(prior, sums):
    """The hyper-posterior given the sums of tasks."""
    noise = Fraction(float(prior.noise_std)) ** 2
    messages = []
    for xx, xy in zip(sums.xx, sums.xy, strict=True):
        # C of sums over noise is 1 / noise of the C that sums have under Sigma / noise.
        told, weighted = exact_message(full(prior.task_cov) / float(noise), full(xx), xy)
        messages.append(([[c / noise for c in row] for row in told], [b / noise for b in weighted]))
    return exact_parent(prior, messages)


def standard_error(known, exact):
    """How far a Gaussian is from an exact one, in standard deviations of that."""
    mean, cov = exact
    std = np.sqrt(np.diag(cov))
    off = np.abs(full(known.cov) - cov) / np.outer(std, std)
    return max(np.max(np.abs(known.mean - mean) / std), np.max(off))


def total(one, two):
    pairs = zip(one, two, strict=True)
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in pairs]


def fractions(matrix):
    return [[Fraction(float(value)) for value in row] for row in matrix]


def product(one, two):
    columns = list(zip(*two, strict=True))
    return [[sum(a * b for a, b in zip(row, col, strict=True)) for col in columns] for row in one]


def solve(matrix, right):
    """X with matrix X = right, by elimination."""
    rows = [[*one, *two] for one, two in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r, row in enumerate(rows):
            if r != i and row[i]:
                rows[r] = [a - row[i] * b for a, b in zip(row, rows[i], strict=True)]
    return [row[len(rows) :] for row in rows]
