"""The proofs of both theorems, step by step, on random histories."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from support.bound_priors import inv, largest_eigenvalue, log_det, random_prior
from support.oracle import full

from hierbandits import Belief, GaussianHierarchy, bounds
from hierbandits.bounds import Spectrum


@dataclass
class Step:
    """One event of a random history, with every matrix of the proofs at that time, dense."""

    prior: GaussianHierarchy
    x: np.ndarray
    M: np.ndarray  # Sigma_0^-1 + G_{s,t}
    hyper_cov: np.ndarray  # Sigma_bar_t, when the round began
    before: np.ndarray  # Sigma_bar_{s,t}^-1, with the round's earlier rewards
    after: np.ndarray  # the same with this reward too
    task: int
    task_cov: np.ndarray  # the belief's marginal covariance
    explored: bool

    @property
    def gain(self):
        return inv(self.M) @ inv(full(self.prior.task_cov))

    @property
    def within(self):
        return self.x @ inv(self.M) @ self.x

    @property
    def shared(self):
        return self.x @ self.gain @ self.hyper_cov @ self.gain.T @ self.x


def history(rng, prior, m, n, num_concurrent=1, basis=None):
    """Random rounds of distinct tasks, each acting n times; with a basis, that is played first."""
    d, var, looking_up = prior.dim, prior.noise_std**2, inv(full(prior.task_cov))
    belief, seen, steps = Belief(prior, m), np.zeros((m, d, d)), []
    times, start = np.zeros(m, int), 0 if basis is None else len(basis)
    while (times < n).any():
        tasks = rng.permutation(np.flatnonzero(times < n))[:num_concurrent]
        tasks = tasks[np.argsort(times[tasks] < start, kind="stable")]  # explored ones first
        arms = rng.integers(0, d, len(tasks))
        x = np.eye(d)[arms]
        if not prior.is_armed:
            x = rng.standard_normal((len(tasks), d))
            x *= (rng.uniform(0, 1, len(tasks)) ** 0.2 / np.linalg.norm(x, axis=1))[:, None]
        if basis is not None:
            early = times[tasks] < start
            x[early] = basis[times[tasks[early]]]
            arms[early] = times[tasks[early]] % d
        hyper = belief.hyper().cov
        covs = [belief.task(task).cov for task in tasks]
        for task, arm, vector, cov in zip(tasks, arms, x, covs, strict=True):
            before = inv(belief.hyper().cov)
            belief.observe([task], [arm] if prior.is_armed else [vector], [rng.standard_normal()])
            after, M = inv(belief.hyper().cov), looking_up + seen[task]
            explored = times[task] >= start
            steps.append(
                Step(prior, vector, M, hyper, before, after, int(task), cov, bool(explored))
            )
            seen[task] += np.outer(vector, vector) / var
            times[task] += 1
    return steps, seen


CASES = list(product(("skewed", "isotropic", "armed", "correlated"), (1, 2, 4), (0, 1)))


@pytest.mark.parametrize(("kind", "d", "seed"), CASES)
def test_each_step_of_the_sequential_proof_holds(kind, d, seed):
    rng = np.random.default_rng([seed, d])
    prior = random_prior(rng, kind, d)
    m, n, var = 4, 9, prior.noise_std**2
    steps, seen = history(rng, prior, m, n)
    sets = [make(Spectrum.of(prior)) for make in bounds.CONSTANTS.values()]
    spectrum = sets[0].spectrum
    task_logs, hyper_logs, variance = np.zeros(m), 0.0, 0.0
    for step in steps:
        x, M, norm = step.x, step.M, np.linalg.norm(step.x)
        # The decomposition, and the bound on its second part
        whole = inv(M) + step.gain @ step.hyper_cov @ step.gain.T
        np.testing.assert_allclose(step.task_cov, whole, rtol=1e-8, atol=1e-12)
        for chosen in sets:
            lemma = bounds.decomposition_bound(prior, step.hyper_cov, norm, constants=chosen.name)
            assert step.shared <= lemma * (1 + 1e-9)
            assert step.shared <= chosen.c_q * (1 + 1e-9)
            assert x @ whole @ x <= chosen.tail_std**2 * (1 + 1e-9)
        # Variances into logarithms
        within_log, shared_log = np.log1p(step.within / var), np.log1p(step.shared / var)
        ratio = spectrum.variance_per_information(spectrum.largest_task)
        assert step.within <= ratio * within_log * (1 + 1e-9)
        for chosen in sets:
            ratio = spectrum.variance_per_information(chosen.c_q)
            assert step.shared <= ratio * shared_log * (1 + 1e-9)
        # The hyper-posterior's update, [HBB, eq. linear telescoping]
        w, growth = step.gain.T @ x, 1 + step.within / var
        update = np.outer(w, w) / (var * growth)
        np.testing.assert_allclose(
            step.after - step.before, update, atol=1e-7 * np.abs(step.after).max()
        )
        assert growth <= spectrum.c * (1 + 1e-9)
        assert shared_log <= spectrum.c * (log_det(step.after) - log_det(step.before)) + 1e-7
        task_logs[step.task] += within_log
        hyper_logs += shared_log
        variance += step.within + step.shared
    # Telescoping for tasks
    for task in range(m):
        information = log_det(np.eye(d) + full(prior.task_cov) @ seen[task])
        assert task_logs[task] == pytest.approx(information, rel=1e-9, abs=1e-12)
        assert information <= d * np.log1p(spectrum.largest_task * n / (var * d)) + 1e-9
    # and for the hyper-parameter
    learned = log_det(full(prior.hyper_cov) @ steps[-1].after)
    assert hyper_logs <= spectrum.c * learned + 1e-6
    for chosen in sets:
        assert learned <= d * chosen.hyper_information(m, n) + 1e-9
        assert variance <= bounds.variance_bound(prior, m, n, constants=chosen.name)


def spanning_basis(rng, d, armed):
    if armed:
        return np.eye(d), 1.0
    basis = rng.standard_normal((d, d))
    basis *= (rng.uniform(0.3, 1.0, d) / np.linalg.norm(basis, axis=1))[:, None]
    return basis, np.linalg.eigvalsh(basis.T @ basis)[0]


@pytest.mark.parametrize(("kind", "d", "seed"), CASES)
def test_each_step_of_the_concurrent_proof_holds(kind, d, seed):
    rng = np.random.default_rng([seed, d, 7])
    prior = random_prior(rng, kind, d)
    m, n, num_concurrent = 5, d + 6, 3
    basis, eta = spanning_basis(rng, d, prior.is_armed)
    steps, _ = history(rng, prior, m, n, num_concurrent, basis)
    var, spectrum = prior.noise_std**2, Spectrum.of(prior)
    repaired = bounds.ratio_bound(prior, num_concurrent, eta=eta)
    printed = bounds.ratio_bound(prior, num_concurrent, eta=eta, constants="paper")
    variance, seen, largest = 0.0, 0, 1.0
    for step in steps:
        if not step.explored:
            continue
        G = step.M - inv(full(prior.task_cov))
        assert np.linalg.eigvalsh(G)[0] >= eta / var * (1 - 1e-9)
        added = step.before - inv(step.hyper_cov)
        ratio = largest_eigenvalue(step.before @ step.hyper_cov)
        largest = max(largest, ratio)
        assert ratio <= repaired + 1e-7
        if kind in ("isotropic", "armed"):  # where all matrices commute the printed lemma holds
            assert ratio <= printed + 1e-7
        assert np.trace(added @ step.hyper_cov) <= (num_concurrent - 1) / (
            eta + var / spectrum.largest_total
        ) * (1 + 1e-7)
        w = step.gain.T @ step.x
        in_sequence = w @ inv(step.before) @ w
        assert step.shared <= ratio * in_sequence * (1 + 1e-7)
        assert in_sequence <= bounds.Repaired(spectrum).c_q * (1 + 1e-9)
        variance += step.within + step.shared
        seen += 1
    assert seen == m * (n - d)
    assert largest > 1.001  # the history does act before rewards are in
    for constants in bounds.CONSTANTS:
        assert variance <= bounds.variance_bound(
            prior, m, n, num_concurrent=num_concurrent, eta=eta, constants=constants
        )
