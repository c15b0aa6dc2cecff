"""Slow, independent references: the dense joint Gaussian, and the paper's own equations."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Joint:
    """One Gaussian over the parameters of all nodes, conditioned by brute force."""

    mean: np.ndarray  # (nodes * d,)
    cov: np.ndarray
    log_evidence: float
    dim: int

    def of(self, *nodes):
        """The joint marginal of some nodes, stacked."""
        where = np.concatenate([np.arange(n * self.dim, (n + 1) * self.dim) for n in nodes])
        return self.mean[where], self.cov[np.ix_(where, where)]

    def node_given(self, node, other, value):
        """The posterior of one node when another's parameter is known."""
        mean, cov = self.of(node, other)
        d = self.dim
        gain = np.linalg.solve(cov[d:, d:], cov[d:, :d]).T
        return mean[:d] + gain @ (value - mean[d:]), cov[:d, :d] - gain @ cov[d:, :d]


def full(cov):
    return np.diag(cov) if cov.ndim == 1 else cov


def dense_posterior(parents, covs, root_mean, design, rewards, noise_var):
    """Condition N(all nodes) on rewards = design @ theta + noise.

    `parents` lists each node's parent (-1 for a root), `covs` each node's covariance given its
    parent, `root_mean` each root's mean; a parent may come after its child.
    """
    num, d = len(parents), len(covs[0])
    # theta = J (mean + steps), where steps are independent: J sums along the path to the root
    jump = np.zeros((num * d, num * d))
    base = np.zeros(num * d)
    for node in range(num):
        at = node
        while at >= 0:
            jump[node * d : (node + 1) * d, at * d : (at + 1) * d] = np.eye(d)
            if parents[at] < 0:
                base[node * d : (node + 1) * d] = root_mean[at]
            at = parents[at]
    steps = np.zeros((num * d, num * d))
    for node in range(num):
        steps[node * d : (node + 1) * d, node * d : (node + 1) * d] = full(covs[node])
    prior = jump @ steps @ jump.T
    marginal = design @ prior @ design.T + np.diag(noise_var)
    residual = rewards - design @ base
    gain = np.linalg.solve(marginal, design @ prior).T
    cov = prior - gain @ design @ prior
    _, log_det = np.linalg.slogdet(marginal)
    square = residual @ np.linalg.solve(marginal, residual)
    log_evidence = -0.5 * (len(rewards) * np.log(2 * np.pi) + log_det + square)
    return Joint(base + gain @ residual, (cov + cov.T) / 2, log_evidence, d)


def random_cov(rng, d, scale=1.0):
    """A well-conditioned covariance that is far from the identity."""
    a = rng.standard_normal((d, d))
    return scale**2 * (a @ a.T / d + 0.2 * np.diag(rng.uniform(0.5, 2.0, d)))


# The paper's equations, as written (with N = 0 read as no observation).


def paper_linear(prior, task_xs, task_ys):
    """mu_bar, Sigma_bar and, per task, (G, B).  [HBB, eq. linear hyperposterior, first form]"""
    noise_var = prior.noise_std**2
    inverse_q, inverse_0 = np.linalg.inv(prior.hyper_cov), np.linalg.inv(prior.task_cov)
    precision, weighted = inverse_q.copy(), inverse_q @ prior.hyper_mean
    stats = []
    for x, y in zip(task_xs, task_ys, strict=True):
        G, B = x.T @ x / noise_var, x.T @ y / noise_var
        precision += G - G @ np.linalg.inv(inverse_0 + G) @ G
        weighted += B - G @ np.linalg.inv(inverse_0 + G) @ B
        stats.append((G, B))
    cov = np.linalg.inv(precision)
    return cov @ weighted, cov, stats


def paper_linear_full_rank(prior, stats):
    """The second form, with G^-1.  [HBB, eq. linear hyperposterior, second form]"""
    inverse_q = np.linalg.inv(prior.hyper_cov)
    precision, weighted = inverse_q.copy(), inverse_q @ prior.hyper_mean
    for G, B in stats:
        seen = np.linalg.inv(prior.task_cov + np.linalg.inv(G))
        precision += seen
        weighted += seen @ np.linalg.inv(G) @ B
    cov = np.linalg.inv(precision)
    return cov @ weighted, cov


def paper_linear_conditional(prior, G, B, mu):
    """[HBB, eq. linear conditional]"""
    inverse_0 = np.linalg.inv(prior.task_cov)
    cov = np.linalg.inv(inverse_0 + G)
    return cov @ (inverse_0 @ mu + B), cov


def paper_armed(prior, counts, totals):
    """mu_bar and sigma_bar^2 per arm, from N and B of shape (tasks, K).  [HBB, eq. mab ...]"""
    var_q, var_0, var = prior.hyper_cov, prior.task_cov, prior.noise_std**2
    precision = 1 / var_q + (counts / (counts * var_0 + var)).sum(0)
    weighted = prior.hyper_mean / var_q + (totals / (counts * var_0 + var)).sum(0)
    return weighted / precision, 1 / precision


def paper_armed_conditional(prior, counts, totals, mu):
    """[HBB, eq. mab conditional], with mu_t read as mu_{t,i}"""
    precision = 1 / prior.task_cov + counts / prior.noise_std**2
    return (mu / prior.task_cov + totals / prior.noise_std**2) / precision, 1 / precision
