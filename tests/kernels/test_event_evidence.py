"""What a reward adds to the evidence: its surprise is finite, whatever its size."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy
from hierbandits.compiler import compiled
from hierbandits.kernels.event_evidence import MOST_SURPRISE, count_event


@compiled
def _counted(evidence, population, innovation, var):
    count_event(evidence, population, innovation, var)


@pytest.mark.parametrize(("innovation", "square"), [(3.0, 4.5), (0.0, 0.0), (1e200, MOST_SURPRISE)])
def test_an_event_is_counted(innovation, square):
    evidence = np.zeros((3, 2))
    _counted(evidence, 1, innovation, 2.0)
    np.testing.assert_allclose(evidence[:, 1], [1.0, np.log(2.0), square], rtol=1e-15)
    assert not evidence[:, 0].any()


def test_a_reward_that_cannot_be_leaves_evidence_that_can_be_saved(tmp_path):
    """A sharp reward on a tiny feature moves the mean so far that a large one shows 1e171."""
    prior = GaussianHierarchy.linear(2, hyper_std=1e-29, task_std=0.02, noise_std=1e59)
    belief = Belief(prior, num_tasks=1)
    belief.observe([0], [[1e-60, 2e-60]], [7e59], [1e-59])
    belief.observe([0], [[1e57, -1e57]], [0.0])
    assert np.isfinite(belief.log_evidence()).all()
    belief.save(tmp_path / "belief")
    assert Belief.load(tmp_path / "belief").log_evidence() == belief.log_evidence()
