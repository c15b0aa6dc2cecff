"""Every form of hierarchy has its loops and its blocks."""

import copy
import pickle

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy, TaskSums
from hierbandits.beliefs.forms import (
    ARM_VECTORS,
    COMMON_PART,
    DENSE,
    DIAGONAL,
    form_of,
    suits,
)
from hierbandits.kernels import arm_vectors, common_part, dense, diagonal

WIDTHS = {"hyper_std": 1.0, "noise_std": 1.0}
PLAIN = GaussianHierarchy.armed(3, task_std=0.5, **WIDTHS)
FEATURES = GaussianHierarchy.linear(3, task_std=0.5, **WIDTHS)
COMMON = GaussianHierarchy.armed(3, task_std=0.5, common_std=2.0, **WIDTHS)
FULL = GaussianHierarchy.armed(3, task_cov=np.diag([1.0, 2.0, 3.0]) + np.eye(3)[::-1], **WIDTHS)
DEEP = GaussianHierarchy.armed(3, group_stds=[1.0], task_std=0.5, common_std=2.0, **WIDTHS)
NONE = GaussianHierarchy.armed(3, task_cov=0.5 * np.eye(3), **WIDTHS)
POOLED = COMMON.with_levels(COMMON.hyper_mean, [COMMON.task_cov])


@pytest.mark.parametrize(
    ("priors", "form", "loops", "task", "root", "normals"),
    [
        ([PLAIN], DIAGONAL, diagonal, (2, 3), (2, 3), 3),
        ([FEATURES], DENSE, dense, (4, 3), (4, 3), 3),
        ([FULL], ARM_VECTORS, arm_vectors, (4, 3), (4, 3), 3),
        ([COMMON], COMMON_PART, common_part, (3, 4), (4, 3), 4),
        ([COMMON, FULL], ARM_VECTORS, arm_vectors, (4, 3), (4, 3), 3),
        ([DEEP], ARM_VECTORS, arm_vectors, (4, 3), (4, 3), 3),
        ([NONE], ARM_VECTORS, arm_vectors, (4, 3), (4, 3), 3),
        ([COMMON, NONE], COMMON_PART, common_part, (3, 4), (4, 3), 4),
        ([POOLED], ARM_VECTORS, arm_vectors, (4, 3), (4, 3), 3),
    ],
)
def test_every_form_has_its_loops_and_blocks(priors, form, loops, task, root, normals):
    found = form_of(priors)
    assert found is form
    assert found.loops is loops
    assert pickle.loads(pickle.dumps(found)) is copy.deepcopy(found) is found
    assert (found.task_block(3), found.root_block(3), found.num_normals(3)) == (task, root, normals)
    belief = Belief(priors)
    assert belief._nodes.state.shape[1:] == task
    assert belief._nodes.roots.shape[1:] == root


def test_a_form_holds_the_hierarchies_that_suit_it():
    held = {
        form: [prior for prior in (PLAIN, FEATURES, COMMON, FULL, DEEP) if suits(form, prior)]
        for form in (DIAGONAL, DENSE, ARM_VECTORS, COMMON_PART)
    }
    assert list(held.values()) == [[PLAIN], [FEATURES], [COMMON, FULL, DEEP], [COMMON]]
    with pytest.raises(ValueError, match="prior must have the form of"):
        Belief(COMMON, 2).add_populations(1, FULL)
    Belief(FULL, 2).add_populations(1, COMMON)


def test_a_file_keeps_the_form_of_a_belief_that_held_others(tmp_path):
    belief = Belief(NONE, 2)
    sums = TaskSums.zeros(3, 3, armed=True)
    sums.add([0, 1], [2, 0], [1.0, -1.0])
    belief._restart(np.array([0]), [COMMON], sums)  # by now all its hierarchies have a common part
    belief.save(tmp_path / "belief.hb")
    loaded = Belief.load(tmp_path / "belief.hb")
    assert loaded._nodes.levels.form is ARM_VECTORS
    quick = Belief.from_sums(COMMON, sums.rows(np.arange(2)))
    for task in range(2):
        np.testing.assert_allclose(loaded.task(task).mean, quick.task(task).mean)
        np.testing.assert_allclose(loaded.task(task).cov, quick.task(task).cov)
