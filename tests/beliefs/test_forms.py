"""Every form of hierarchy has its loops."""

import numpy as np
import pytest

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.forms import loops_for
from hierbandits.kernels import arm_vectors, dense, diagonal

WIDTHS = {"hyper_std": 1.0, "noise_std": 1.0}


@pytest.mark.parametrize(
    ("prior", "loops"),
    [
        (GaussianHierarchy.armed(2, task_std=0.5, **WIDTHS), diagonal),
        (GaussianHierarchy.linear(2, task_std=0.5, **WIDTHS), dense),
        (GaussianHierarchy.armed(2, task_cov=np.eye(2) + 0.5, **WIDTHS), arm_vectors),
    ],
)
def test_every_form_has_its_loops(prior, loops):
    assert loops_for(prior) is loops
