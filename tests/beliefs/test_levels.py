"""The tables of levels."""

import pytest

from hierbandits import Belief, GaussianHierarchy


def test_an_equal_hierarchy_of_another_form_is_no_equal():
    """One arm and one feature are the same numbers, and so are the bytes of their parts."""
    armed = GaussianHierarchy.armed(1, hyper_std=1.0, task_std=0.5, noise_std=0.4)
    linear = GaussianHierarchy(
        hyper_mean=[0.0], hyper_cov=[[1.0]], task_cov=[[0.25]], noise_std=0.4
    )
    belief = Belief(linear)
    with pytest.raises(ValueError, match="prior must have the form"):
        belief.add_populations(1, armed)
    twin = belief.copy()
    twin.add_populations(1, GaussianHierarchy.from_dict(linear.to_dict()))
    assert (len(twin._nodes.levels.hierarchies), belief.num_populations) == (1, 1)
