"""Beliefs on grids beside brute force: another quadrature, in other coordinates, much finer.

`PYTHONPATH=tests python tests/beliefs/test_grid_belief_reference.py` prints the table of
docs/models.md.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.grid_reference import Reference
from support.grid_worlds import KINDS, random_events, random_prior, sums_of, told

import hierbandits as hb

CASES = {  # mean, width, tasks, exposure of each on average
    "few tasks": (0.5, 0.5, 5, 3),
    "some tasks": (0.3, 0.5, 20, 20),
    "2 %": (0.02, 0.5, 20, 50),
    "0.1 %": (0.001, 0.5, 30, 1000),
    "99.9 %": (0.999, 1.0, 30, 200),
    "tasks alike": (0.3, 0.05, 60, 200),
    "tasks unlike": (0.3, 2.0, 60, 30),
    "many tasks": (0.05, 0.5, 1000, 100),
}
EXACT = {8: 1.0, 16: 0.1, 24: 0.01, 32: 1e-3, 48: 1e-4, 64: 1e-5}
"""The largest error of any case by resolution, in standard deviations: see `_errors`."""


def _sums(kind, case, seed=0):
    """The sums of tasks of a case."""
    mean, width, tasks, size = CASES[case]
    rng = np.random.default_rng(seed)
    over = rng.integers(0, 2 * size + 1, tasks).astype(float)
    if kind == "gamma":
        theta = rng.gamma(1 / width**2, mean * width**2, tasks)
        return rng.poisson(theta * over).astype(float), over
    c = 1 / (width**2 * mean * (1 - mean))
    theta = rng.beta(c * mean, c * (1 - mean), tasks)
    return rng.binomial(over.astype(int), theta).astype(float), over


def _learned(kind, sums, over, resolution):
    """A belief of one arm that has learned these sums, each as one reward."""
    belief = hb.GridBelief(KINDS[kind](1, resolution=resolution), sums.size)
    seen = np.flatnonzero(over)
    for rows in np.array_split(seen, min(4, seen.size)):
        belief.observe(rows, np.zeros(rows.size, int), sums[rows], exposure=over[rows])
    return belief


def _errors(belief, reference, sums, over):
    """Of tasks' means, and of the logs of their widths, in standard deviations of the truth."""
    worst = 0.0
    for task in [*range(min(6, sums.size)), int(sums.argmax())]:
        mean, within, shared = reference.task(sums[task], over[task])
        std = np.sqrt(within + shared)
        known = belief.predict([task], [0])
        worst = max(worst, abs(known.mean[0] - mean) / std, abs(np.log(known.std[0] / std)))
        worst = max(worst, abs(known.shared_var[0] - shared) / std**2)
    mean, var = reference.hyper()
    return worst, abs(belief.hyper().mean[0] - mean) / var**0.5


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_vanishes_as_the_grid_is_refined(kind, case):
    sums, over = _sums(kind, case)
    rewards, sizes = sums[over > 0], over[over > 0]
    reference = Reference(KINDS[kind](1), sums, over)
    for resolution in (16, 32, 64):
        belief = _learned(kind, sums, over, resolution)
        assert max(_errors(belief, reference, sums, over)) < EXACT[resolution]
        own = belief.log_evidence()[0] - belief.prior.FAMILY.log_base(rewards, sizes).sum()
        assert_allclose(own, reference.log_evidence, rtol=0, atol=EXACT[resolution])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_random_priors_and_events_are_learned_exactly(kind, seed):
    rng = np.random.default_rng(100 + seed)
    prior = random_prior(rng, kind, 2, resolution=64)
    events = random_events(rng, prior, 6, 150)
    belief, evidence = told(hb.GridBelief(prior, 6), events), 0.0
    for arm in (0, 1):
        sums, over = sums_of(prior, events, 6, arm)
        alone = KINDS[kind](1, **{name: values[arm] for name, values in prior._parts()})
        reference = Reference(alone, sums, over)
        evidence += reference.log_evidence
        for task in range(6):
            mean, within, shared = reference.task(sums[task], over[task])
            known = belief.predict([task], [arm])
            assert_allclose(known.mean[0], mean, rtol=1e-6)
            assert_allclose(known.within_var[0], within, rtol=1e-5)
            assert_allclose(known.shared_var[0], shared, rtol=1e-4, atol=1e-6 * within)
        assert_allclose(belief.hyper().mean[arm], reference.hyper()[0], rtol=1e-6)
        assert_allclose(belief.hyper().cov[arm, arm], reference.hyper()[1], rtol=1e-4)
    base = prior.FAMILY.log_base(*events[2:]).sum()
    assert_allclose(belief.log_evidence()[0], evidence + base, rtol=1e-8)


def main():
    """Print the table of docs/models.md: errors by resolution, the largest of all cases."""
    print("| cells | clicks: tasks | the arm's mean | counts: tasks | the arm's mean |")
    print("|---|---|---|---|---|")
    found = {}
    for kind in KINDS:
        for case in CASES:
            sums, over = _sums(kind, case)
            reference = Reference(KINDS[kind](1), sums, over)
            for resolution in EXACT:
                errors = _errors(_learned(kind, sums, over, resolution), reference, sums, over)
                found.setdefault((resolution, kind), []).append(errors)
    for resolution in EXACT:
        cells = [f"{max(part):.0e}" for kind in KINDS
                 for part in zip(*found[resolution, kind], strict=True)]  # fmt: skip
        print(f"| {resolution} × {resolution} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
