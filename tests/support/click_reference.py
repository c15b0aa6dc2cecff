"""Clicks by plain equations: what sites tell of tasks, and sites that nothing moves any more."""

import numpy as np
from scipy.special import expit

from support.oracle import full

_POINTS = np.linspace(-9.0, 9.0, 301)  # standard deviations about the mode


def told_by(prior, precision, weighted):
    """What tasks tell of mu by their sites: sums of C_s and b_s.

    Of each task `precision` is the sum of a x x', (tasks, d, d), `weighted` that of b x.
    """
    task_cov, eye = full(prior.task_cov), np.eye(prior.dim)
    seen = np.linalg.inv(eye + precision @ task_cov)  # (tasks, d, d)
    return (seen @ precision).sum(0), np.einsum("tij,tj->i", seen, weighted)


def known_by(prior, precision, weighted):
    """The means and the covariances of tasks whose rewards are these sites."""
    start, within = np.linalg.inv(full(prior.hyper_cov)), np.linalg.inv(full(prior.task_cov))
    told, told_weighted = told_by(prior, precision, weighted)
    cov = np.linalg.inv(start + told)
    mu = cov @ (start @ prior.hyper_mean + told_weighted)
    own = np.linalg.inv(within + precision)
    gain = own @ within
    means = np.einsum("tij,tj->ti", own, within @ mu + weighted)
    return means, own + gain @ cov @ np.swapaxes(gain, 1, 2)


def settled(prior, table, counts, clicks, *, in_sums):
    """What is known of tasks by expectation propagation until nothing moves: `known_by`.

    Of each task and row of features in `table`, (rows, d), there are `counts` rewards, of which
    `clicks` are 1.  All of these have one site, if `in_sums`; otherwise each has its own, and those
    of the same reward are equal.
    """
    counts, clicks = counts[..., None], clicks[..., None]
    number, total, hits = np.ones_like(counts), counts, clicks
    if not in_sums:
        number = np.concatenate([clicks, counts - clicks], -1)
        total, hits = np.ones_like(number), np.ones_like(number) * [1.0, 0.0]
    a, b = np.zeros_like(number), np.zeros_like(number)  # (tasks, rows, sites)
    for _ in range(1000):
        precision = np.einsum("tk,ki,kj->tij", (number * a).sum(-1), table, table)
        weighted = (number * b).sum(-1) @ table
        means, covs = known_by(prior, precision, weighted)
        mean, var = means @ table.T, np.einsum("ki,tij,kj->tk", table, covs, table)
        left = 1 / var[..., None] - a
        mode, width = matched((mean / var)[..., None] - b, left, total, hits)
        more_a, more_b = 1 / width - left - a, mode / width - (mean / var)[..., None]
        a, b = a + 0.5 * more_a, b + 0.5 * more_b
        if max(np.abs(more_a).max(), np.abs(more_b).max()) < 1e-9 * max(1.0, np.abs(a).max()):
            return means, covs
    raise AssertionError("sites do not settle")


def matched(weighted, precision, total, hits):
    """The mean and the variance of log odds, Gaussian but for clicks, on a grid about the mode."""
    mean, reach = weighted / precision, total / precision
    low, high = mean - reach - 1e-9, mean + reach + 1e-9
    for _ in range(100):  # the slope falls
        mode = (low + high) / 2
        rises = hits - total * expit(mode) > precision * (mode - mean)
        low, high = np.where(rises, mode, low), np.where(rises, high, mode)
    width = 1 / np.sqrt(precision + total * expit(mode) * expit(-mode))
    eta = mode[..., None] + width[..., None] * _POINTS
    log = hits[..., None] * eta - total[..., None] * np.logaddexp(0.0, eta)
    log -= 0.5 * precision[..., None] * (eta - mean[..., None]) ** 2
    weight = np.exp(log - log.max(-1, keepdims=True))
    weight /= weight.sum(-1, keepdims=True)
    centre = (weight * eta).sum(-1)
    return centre, (weight * (eta - centre[..., None]) ** 2).sum(-1)
