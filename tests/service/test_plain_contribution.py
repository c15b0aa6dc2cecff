"""The paper's formula in long numbers agrees with exact fractions, and with what beliefs tell."""

import numpy as np
import pytest
from support.exact_messages import exact_hyper, standard_error
from support.shared_stores import PRIORS

import hierbandits as hb
from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.service.plain_contribution import PlainContribution


def summed(prior, rng, tasks, events):
    sums = hb.TaskSums.zeros(tasks, prior.dim, armed=prior.is_armed)
    armed = prior.is_armed
    features = rng.integers(prior.dim, size=events) if armed else rng.normal(size=(events, 2))
    sums.add(rng.integers(tasks, size=events), features, rng.normal(size=events))
    return sums


def told(prior, *parts):
    plain = PlainContribution(prior)
    for sums in parts:
        plain.add(sums)
    return plain.told()


@pytest.mark.parametrize("kind", PRIORS)
def test_it_is_what_beliefs_tell(kind, monkeypatch):
    prior, rng = PRIORS[kind], np.random.default_rng(0)
    parts = summed(prior, rng, 5, 40), summed(prior, rng, 9, 60)
    absent = AbsentTasks.of(prior)
    each = [absent.told_by(sums) for sums in parts]
    monkeypatch.setattr("hierbandits.service.plain_contribution._AT_ONCE", 30)
    known = told(prior, *parts)
    for name in ("precision", "weighted"):
        both = sum(getattr(one, name) for one in each)
        np.testing.assert_allclose(getattr(known, name), both, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("width", [1e-9, 1e-5, 1.0, 1e3])
def test_it_has_digits_at_all_widths(width):
    rng = np.random.default_rng(1)
    for prior in (
        hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_std=width, noise_std=0.75),
        hb.GaussianHierarchy(
            hyper_mean=[0.0, 0.0], hyper_cov=np.eye(2), task_cov=np.diag([width**2, 1.0]),
            noise_std=0.75,
        ),
    ):  # fmt: skip
        sums = summed(prior, rng, 3, 60)
        known = hb.merge_contributions(prior, [told(prior, sums)])
        assert standard_error(known, exact_hyper(prior, sums)) < 1e-11
