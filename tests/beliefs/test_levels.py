"""The tables of levels."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.beliefs.forms import form_of
from hierbandits.beliefs.levels import Levels


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


def test_equal_hierarchies_share_their_rows_and_others_follow():
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.5, noise_std=0.4)
    equal = GaussianHierarchy.from_dict(prior.to_dict())
    wider = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.6, noise_std=0.4)
    levels = Levels(prior, form_of([prior]))
    assert [levels.adopt(one) for one in (prior, wider, equal)] == [0, 2, 0]
    assert levels.below.tolist() == [1, -1, 3, -1]
    assert levels.root_rows() == [0, 2]
    np.testing.assert_allclose(levels.maps[1, 1], np.eye(2) / 0.25)
    np.testing.assert_allclose(levels.start[3] @ levels.start[3].T, wider.task_cov)
    np.testing.assert_allclose(levels.noise_var, 0.16)


def test_saved_tables_must_follow_from_their_hierarchies():
    prior = GaussianHierarchy.linear(2, hyper_std=1.0, task_std=[0.5, 0.0], noise_std=0.4)
    levels = Levels(prior, form_of([prior]))
    levels.adopt(prior)
    meta, arrays = levels.state()
    arrays = {name: array.copy() for name, array in arrays.items()}
    assert Levels.from_state(meta, arrays).num_levels == 2
    arrays["coordinates"][1] *= 1.01
    with pytest.raises(ValueError, match="coordinates do not follow from the hierarchies"):
        Levels.from_state(meta, arrays)


def test_a_copy_does_not_hear_of_hierarchies_that_are_replaced():
    narrow, wide = (
        GaussianHierarchy.armed(2, hyper_std=1.0, task_std=std, noise_std=1.0) for std in (0.5, 5.0)
    )
    belief = Belief(narrow, 2)
    twin, sums = belief.copy(), TaskSums.zeros(3, 2, armed=True)
    belief._restart(np.array([0]), [wide], sums)
    np.testing.assert_allclose(belief.task(0).cov, 26.0 * np.eye(2))
    np.testing.assert_allclose(twin.task(0).cov, 1.25 * np.eye(2))
