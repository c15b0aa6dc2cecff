"""The evidence of any two widths."""

import numpy as np
import pytest
from support.learn_logs import FORMS, drawn, sums_of

from hierbandits import GaussianHierarchy
from hierbandits.learning.width_evidence import WidthEvidence, feature_sizes


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_the_candidates_evidence_is_that_of_the_dense_joint(armed, populations):
    scale = np.array([1.0, 100.0, 0.1])
    rows = drawn(7, armed=armed, populations=populations, tasks=6, events=5, scale=scale)
    evidence = WidthEvidence.of(sums_of(rows), rows.population)
    size = np.ones(3) if armed else np.sqrt((rows.features**2).mean(0))
    np.testing.assert_allclose(evidence.unit, 1 / size)
    centre = rows.rewards.mean() if armed else 0.0
    np.testing.assert_allclose(evidence.centre, centre)
    for t, q in [(0.3, 2.0), (0.0, 0.7), (1.5, 0.0)]:
        log = evidence.at(t).evidence(np.array([q])).log()[0]
        # A width of zero is near enough at 1e-9, where a hierarchy must have some.
        covs = [np.diag((width / size) ** 2) for width in (q, t or 1e-9)]
        prior = GaussianHierarchy(
            hyper_mean=np.zeros(3), hyper_cov=covs[0], task_cov=covs[1], noise_std=1.0
        )
        np.testing.assert_allclose(log, rows.joint(prior, centre=centre).log_evidence, rtol=1e-8)


def test_a_feature_that_is_always_zero_has_the_size_of_the_largest():
    rows = drawn(7, armed=False, scale=np.array([1.0, 0.0, 5.0]))
    sizes = feature_sizes(sums_of(rows))
    np.testing.assert_allclose(sizes[[0, 2]], np.sqrt((rows.features[:, [0, 2]] ** 2).mean(0)))
    assert sizes[1] == sizes[2]
    np.testing.assert_array_equal(feature_sizes(sums_of(drawn(7, armed=True))), np.ones(3))
