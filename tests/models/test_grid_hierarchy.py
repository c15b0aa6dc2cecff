"""Hierarchies whose hyper-parameters are learned on grids: what they take, and what they refuse."""

import copy
import json
import pickle

import numpy as np
import pytest
from support.grid_worlds import KINDS

import hierbandits as hb
from hierbandits.models.generalized_hierarchy import with_family
from hierbandits.models.grid_hierarchy import MOST_CELLS
from hierbandits.models.variants import pooled, unknown_widths

each = pytest.mark.parametrize("kind", KINDS.values())


@each
def test_numbers_are_one_for_all_arms_or_one_for_each(kind):
    model = kind(3, hyper_mean=[0.1, 0.2, 0.3], task_std=0.7, resolution=16)
    assert model.hyper_mean.tolist() == [0.1, 0.2, 0.3]
    assert model.task_std.tolist() == [0.7] * 3
    assert (model.dim, model.num_levels, model.is_armed) == (3, 2, True)
    assert (model.widths_known, model.arms, model.learned_from) == (False, None, None)
    with pytest.raises(ValueError, match="read-only"):
        model.hyper_mean[0] = 1.0
    with pytest.raises(AttributeError):
        model.resolution = 3


@each
def test_a_model_comes_back_from_plain_data_and_pickles(kind):
    model = kind(arms=["a", 7], hyper_std=[0.5, 0.7], task_factor=2.0)
    again = kind.from_dict(json.loads(json.dumps(model.to_dict())))
    for twin in (again, pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert type(twin) is kind
        assert twin.to_dict() == model.to_dict()
        assert twin.arms == ("a", 7)
    for parts in ({}, None, {"hyper_mean": 3}, model.to_dict() | {"hyper_mean": 3}):
        with pytest.raises(ValueError, match="parts must be of a model"):
            kind.from_dict(parts)
    with pytest.raises(ValueError, match="hyper_mean must have a number for each arm, got none"):
        kind.from_dict(model.to_dict() | {"hyper_mean": []})


@each
def test_arms_are_put_in_order_and_added(kind):
    model = kind(arms=["a", "b"], hyper_mean=[0.1, 0.3], task_std=[0.2, 0.4])
    turned = model.reordered(["b", "a"])
    assert (turned.arms, turned.hyper_mean.tolist()) == (("b", "a"), [0.3, 0.1])
    for names in (["a", "c"], ["a"], ["a", "a"]):
        with pytest.raises(ValueError, match="arms must"):
            model.reordered(names)
    with pytest.raises(ValueError, match="arms must be those of the prior, None"):
        kind(2).reordered(["a", "b"])
    larger = model.with_arm("c", None, None, 0.9)
    assert larger.arms == ("a", "b", "c")
    np.testing.assert_allclose(larger.hyper_mean, [0.1, 0.3, 0.2])
    np.testing.assert_allclose(larger.task_std, [0.2, 0.4, 0.9])
    with pytest.raises(ValueError, match="hyper_std must be in"):
        model.with_arm("c", None, -1.0, None)


@each
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "num_arms must be given, or arms"),
        ({"num_arms": 0}, "num_arms must be a whole number"),
        ({"num_arms": 2**45}, "num_arms must be at most 65,536 at a resolution of 32, got 35,184"),
        ({"num_arms": 2, "arms": ["a"]}, "arms must name each"),
        ({"num_arms": 2, "hyper_mean": 31.0}, r"hyper_mean must be in \[-30, 30\], got 31"),
        ({"num_arms": 2, "hyper_mean": [0.0]}, "hyper_mean must have shape"),
        ({"num_arms": 2, "hyper_mean": np.nan}, "hyper_mean must be finite"),
        ({"num_arms": 2, "hyper_std": 0.0}, r"hyper_std must be in \[0.001, 5\], got 0"),
        ({"num_arms": 2, "task_std": [0.1, -0.1]}, "task_std must be in .*got -0.1"),
        ({"num_arms": 2, "task_factor": 1.0}, "task_factor must be in"),
        ({"num_arms": 2, "resolution": 7}, "resolution must be a whole number of at least 8"),
        ({"num_arms": 2, "resolution": 1000}, "resolution must be at most 256"),
    ],
)
def test_what_cannot_be_is_refused_by_name(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options)


def test_the_room_of_all_cells_is_limited():
    assert MOST_CELLS // 256**2 == 1024
    hb.BetaHierarchy(1024, resolution=256)
    with pytest.raises(ValueError, match="num_arms must be at most 1,024"):
        hb.BetaHierarchy(1025, resolution=256)


@each
def test_other_assumptions_about_rewards_are_refused(kind):
    model = kind(2)
    assert with_family(model, None) is model
    assert unknown_widths(model) is model
    for rewards in ("bernoulli", "gaussian"):
        with pytest.raises(ValueError, match="rewards must not be given"):
            hb.Agent(model, rewards=rewards)
    with pytest.raises(ValueError, match="prior must be a GaussianHierarchy for this policy"):
        pooled(model)
