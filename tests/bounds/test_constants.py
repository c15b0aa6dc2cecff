"""Every constant of the theorems, against values by hand, independent code and tight cases."""

from math import log, pi, sqrt

import numpy as np
import pytest
from support.bound_priors import BOTH, by_hand, check, inv, isotropic, linear, log_det, random_prior
from support.oracle import full, random_cov

from hierbandits import GaussianHierarchy, SpanningArms, bounds

# Values by hand have numbers for which logarithms cancel.


def test_the_printed_sequential_theorem_by_hand():
    bound = bounds.sequential(by_hand(), 4, 8, constants="paper")
    c3 = sqrt(2 / pi) * sqrt(8.5) * 2 * sqrt(2)
    check(bound, c=3, c_q=8, c1=1, c2=24, c3=c3, c4=1, sigma_max=sqrt(8.5), delta=1 / 32)
    check(bound, variance=56, total=2 * sqrt(2 * 32 * 28 * log(32)) + c3, tail_regret=c3)
    check(bound, task_regret=2 * sqrt(2 * 32 * 4 * log(32)), forced_regret=0)
    check(bound, hyper_regret=2 * sqrt(2 * 32 * log(32)) * (sqrt(28) - sqrt(4)))
    check(bound, concurrency_regret=0, hyper_alone=2 * sqrt(2 * 32 * 24 * log(32)))
    assert bound.total == pytest.approx(164.194228751, rel=1e-9)
    assert bound.eta is None
    assert bound.constants == "paper"


def test_the_repaired_sequential_theorem_by_hand():
    bound = bounds.sequential(by_hand(), 4, 8)
    # 9/8 of 2; 2.25 / (1/4) = 9; 1/4 + (1/4) 2 / 8 = 5/16 and 8 / (5/16) = 25.6
    c2, c3 = 2.25 * 3 / log(10) * log(26.6), sqrt(2 / pi) * sqrt(2.5) * 2 * sqrt(2)
    check(bound, c=3, c_q=2.25, c1=1, c2=c2, c3=c3, c4=1, sigma_max=sqrt(2.5))
    check(bound, total=2 * sqrt(2 * 32 * (4 + c2) * log(32)) + c3, variance=2 * (4 + c2))
    wide = linear(np.diag([2.0, 1.0]), np.diag([2.0, 0.02]), 0.5)
    assert bounds.sequential(wide, 4, 8).c_q == pytest.approx(4.0)  # not 25.5 * 2


def test_the_printed_concurrent_theorem_by_hand():
    # b = 0.5 + 0.25 / 0.5 = 1 and c4 = 1 + 4 * 2 * 1 / (2 + 1/2); ||mu_q||^2 = 1/2.5 + 1/1.25
    bound = bounds.concurrent(by_hand(), 4, 8, 2, eta=0.5, constants="paper")
    c3 = 2 * sqrt(2.5) * (sqrt(1.2) + sqrt(2)) * 2 * 4
    check(bound, c=3, c_q=8, c1=1, c4=4.2, c2=100.8, c3=c3, sigma_max=sqrt(2.5), eta=0.5)
    check(bound, total=2 * sqrt(2 * 32 * 104.8 * log(32)) + c3, forced_regret=c3, tail_regret=0)
    scale = 2 * sqrt(2 * 32 * log(32))
    check(bound, concurrency_regret=scale * (sqrt(104.8) - sqrt(28)))
    check(bound, hyper_regret=scale * (sqrt(28) - 2), hyper_alone=scale * sqrt(100.8))


def test_the_repaired_concurrent_theorem_by_hand():
    options = {"eta": 0.5}
    bound = bounds.concurrent(by_hand(), 4, 8, 2, **options)
    tail, forced = sqrt(2 / pi) * sqrt(2.5) * 2 * sqrt(2), 4 * 2 * (2 * sqrt(2) + sqrt(3.75))
    check(bound, c4=1 + 1 / 0.6, tail_regret=tail, forced_regret=forced, c3=tail + forced)
    c2 = 2.25 * 3 / log(10) * log(26.6) * (1 + 1 / 0.6)
    check(bound, c2=c2, total=2 * sqrt(2 * 32 * (4 + c2) * log(32)) + tail + forced)
    few = bounds.concurrent(by_hand(), 4, 8, 2, num_arms=2, **options)
    check(few, forced_regret=4 * 2 * (2 * sqrt(2) + sqrt(2.5) * sqrt(2 * log(2))))
    check(few, tail_regret=sqrt(2 / pi) * sqrt(2.5) * 2)
    check(few, task_regret=sqrt(2 * 2 * 32 * 4 * log(32)))
    short = bounds.concurrent(by_hand(), 4, 1, 2, **options)  # one forced arm, not two
    check(short, forced_regret=forced / 2)


def test_each_of_the_three_repaired_ratios_by_hand():
    assert bounds.ratio_bound(by_hand(), 2, eta=0.5) == pytest.approx(1 + 1 / 0.6, rel=1e-12)
    assert bounds.ratio_bound(by_hand(), 4, eta=0.5) == pytest.approx(2.92, rel=1e-12)
    narrow = linear(0.01 * np.eye(2), np.diag([0.5, 0.25]), 0.5)
    mended = 1 + 9 / 8 * 0.02 / (0.25 * 1.03)
    assert bounds.ratio_bound(narrow, 3, eta=0.5) == pytest.approx(mended, rel=1e-12)
    for prior in (by_hand(), narrow):
        assert bounds.ratio_bound(prior, 1, eta=0.5) == 1


def test_the_armed_theorems_by_hand():
    # c1 = 0.5 / log(3) * log(9) and printed c2 = 2 * 3 / log(9) * log(9)
    prior = GaussianHierarchy.armed(
        3, hyper_mean=[1, 2, 4], hyper_std=sqrt(2), task_std=sqrt(0.5), noise_std=0.5
    )
    tail = sqrt(2 / pi) * sqrt(2.5) * 3
    bound = bounds.sequential(prior, 2, 12, constants="paper")
    check(bound, c=3, c1=1, c2=6, c_q=2, c3=tail, sigma_max=sqrt(2.5), variance=24)
    check(bound, total=sqrt(2 * 3 * 24 * 8 * log(24)) + tail)
    both = bounds.concurrent(prior, 2, 12, 2, constants="paper")
    c4 = 1 + 4 * 2 * 0.75 / (2 + 0.75 / 2)
    forced = 2 * sqrt(2.5) * (sqrt(21 / 2.5) + sqrt(3)) * 3 * 2
    check(both, eta=1, c4=c4, c2=6 * c4, c3=forced)
    check(both, total=sqrt(2 * 3 * 24 * (2 + 6 * c4) * log(24)) + forced)
    mended = bounds.sequential(prior, 2, 12)
    check(mended, c_q=2, c2=6 / log(9) * log(1 + 4 / (0.5 + 0.25 * 3 / 12)), c3=tail)
    # 2 / (0.5 + 2), against 2 / (0.25 (1 + 4 / 0.75)) and 1 / (1 + 0.25 / 2.5)
    mended = bounds.concurrent(prior, 2, 12, 2)
    check(mended, c4=1.8, forced_regret=2 * 3 * (3 + sqrt(2.5) * sqrt(2 * log(3))))
    check(mended, tail_regret=tail)


def test_arms_of_different_widths_count_by_the_largest_and_the_smallest():
    prior = GaussianHierarchy.armed(2, hyper_std=[1, 2], task_std=[1, 0.5], noise_std=0.5)
    bound = bounds.sequential(prior, 3, 5, constants="paper")
    check(bound, c=5, c_q=16 * 4, c1=1 / log(5) * log(11), sigma_max=sqrt(65))
    mended = bounds.sequential(prior, 3, 5)
    check(mended, c_q=4, sigma_max=sqrt(4.25))  # diagonal: nothing inflates
    information = log(1 + 4 * 3 / (0.25 + 0.25 * 2 / 5))
    check(mended, c2=4 * 5 / log(17) * information)


@BOTH
def test_constants_match_independent_code_on_random_priors(constants):
    rng = np.random.default_rng(8)
    for _ in range(25):
        d = int(rng.integers(1, 6))
        prior = linear(random_cov(rng, d), random_cov(rng, d, 0.5), 0.7, rng.standard_normal(d))
        m, n, L, eta = 6, int(rng.integers(1, 30)), int(rng.integers(1, 6)), rng.uniform(0.01, 1)
        bound = bounds.concurrent(prior, m, n, L, eta=eta, constants=constants)
        big_q, lam = np.linalg.norm(prior.hyper_cov, 2), np.linalg.eigvalsh(prior.task_cov)
        both, var = prior.hyper_cov + prior.task_cov, 0.49
        sigma_max = sqrt(np.linalg.norm(both, 2))
        b, mean = lam[-1] + var / eta, prior.hyper_mean
        if constants == "paper":
            c_q = lam[-1] ** 2 * big_q / lam[0] ** 2
            growth = big_q * m / lam[0]
            c4 = 1 + (big_q * b / var) / (big_q + b / L)
            c3 = 2 * sigma_max * (sqrt(mean @ inv(both) @ mean) + sqrt(d)) * d * m
        else:
            c_q = min((lam[0] + lam[-1]) ** 2 / (4 * lam[0] * lam[-1]) * big_q, sigma_max**2)
            growth = big_q * m * n / (lam[0] * n + var * d)
            inflation = (lam[0] + lam[-1]) ** 2 / (4 * lam[0] * lam[-1])
            c4 = 1 + (L - 1) * min(
                inflation / var / (1 / big_q + L / b),
                1 / (lam[0] / big_q + L - 1) / eta,
                sigma_max**2 / (eta * sigma_max**2 + var),
            )
            gap = 2 * np.linalg.norm(mean) + sqrt(np.trace(both))
            c3 = min(d, n) * m * gap + sqrt(2 / pi) * sigma_max * d**1.5
        c = 1 + lam[-1] / var
        c2 = c_q * c4 * c / log(1 + c_q / var) * log(1 + growth)
        c1 = lam[-1] / log(1 + lam[-1] / var) * log(1 + lam[-1] * n / (var * d))
        total = d * sqrt(2 * m * n * (c1 * m + c2) * log(m * n)) + c3
        values = [bound.c, bound.c1, bound.c2, bound.c3, bound.c4, bound.c_q, bound.total]
        np.testing.assert_allclose(values, [c, c1, c2, c3, c4, c_q, total], rtol=1e-9)


@BOTH
def test_the_hyper_information_holds_when_tasks_are_short_or_long(constants):
    """Histories whose G is the same in all directions come closest: the repaired one is reached."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 50, 5000):
        skewed_hyper = random_prior(rng, "isotropic", 2)  # its task_cov alone is isotropic
        for prior in (skewed_hyper, isotropic(0.3, 0.7)):
            chosen = bounds.CONSTANTS[constants](bounds.Spectrum.of(prior))
            G = n / (2 * prior.noise_std**2) * np.eye(2)
            added = 6 * inv(prior.task_cov + inv(G))  # by six tasks to the precision of mu
            learned = log_det(np.eye(2) + prior.hyper_cov @ added) / 2
            bound = chosen.hyper_information(6, n)
            assert learned <= bound * (1 + 1e-9)
            if constants == "repaired" and prior is not skewed_hyper:
                assert learned == pytest.approx(bound, rel=1e-9)


def test_the_forced_start_costs_less_than_its_bound():
    """At most `looser` times less, with the repaired constants and with the printed ones."""
    rng = np.random.default_rng(15)
    ball = rng.standard_normal((300, 4))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    some = ball[:9, :3] / np.linalg.norm(ball[:9, :3], axis=1)[:, None]
    many = GaussianHierarchy.armed(100, hyper_std=0.8, task_std=0.6, noise_std=0.5)
    for prior, arms, *looser in (
        (isotropic(0.6, 0.8, d=4), ball, 1.15, 2.3),
        (many, np.eye(100), 1.25, 8.2),
        (random_prior(rng, "skewed", 3), some, 4.0, 8.0),
        (random_prior(rng, "armed", 3), np.eye(3), 4.0, 12.0),
    ):
        cov = full(prior.hyper_cov + prior.task_cov)
        theta = rng.multivariate_normal(prior.hyper_mean, cov, 20_000)
        span = SpanningArms.of(arms)
        rewards = theta @ arms.T
        regret = (rewards.max(1, keepdims=True) - rewards[:, span.arms]).sum(1)
        error = 6 * regret.std() / sqrt(20_000)
        for constants, factor in zip(("repaired", "paper"), looser, strict=True):
            options = {"eta": span.eta, "num_arms": len(arms), "constants": constants}
            bound = bounds.concurrent(prior, 1, 150, 1, **options).forced_regret
            assert regret.mean() + error < bound < factor * regret.mean()
    one = GaussianHierarchy.armed(1, hyper_mean=5.0, hyper_std=1.0, task_std=1.0, noise_std=1.0)
    assert bounds.concurrent(one, 3, 4, 2).forced_regret == 0  # one arm: nothing to lose
