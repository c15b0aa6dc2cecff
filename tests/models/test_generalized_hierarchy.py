"""A hierarchy of linear predictors and a family: made, changed and written down."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hierbandits as hb
from hierbandits.beliefs.model_kinds import belief_in, model_from_dict, model_to_dict
from hierbandits.models import BernoulliRewards, GaussianRewards
from hierbandits.models.variants import known_mean, marginal, pooled, unknown_widths

ARMED = hb.GaussianHierarchy.armed(
    arms=["a", "b"], hyper_mean=[0.1, -2.0], hyper_std=[1.0, 0.5], task_std=0.4, noise_std=0.3
)
MODEL = hb.GeneralizedHierarchy(ARMED, "bernoulli")


@pytest.mark.parametrize("model", [MODEL, hb.GeneralizedHierarchy(ARMED, GaussianRewards(0.3))])
def test_it_is_the_same_after_a_file_a_copy_and_a_pickle(model):
    twins = [model_from_dict(model_to_dict(model)), copy.deepcopy(model)]
    for twin in (*twins, pickle.loads(pickle.dumps(model))):
        assert twin.to_dict() == model.to_dict()
        assert twin.rewards == model.rewards


def test_the_noise_of_the_hierarchy_does_not_matter():
    assert MODEL.hierarchy.noise_std == 1.0
    assert MODEL.arms == ("a", "b")
    assert MODEL.widths_known
    assert isinstance(belief_in(MODEL, 3), hb.MatchedBelief)


def test_arms_are_put_in_order_and_added():
    turned = MODEL.reordered(["b", "a"])
    assert_allclose(turned.hyper_mean, [-2.0, 0.1])
    assert turned.rewards == BernoulliRewards()
    more = MODEL.with_arm("c", 0.5, None, None)
    assert (more.dim, more.arms, more.rewards) == (3, ("a", "b", "c"), BernoulliRewards())


def test_baselines_keep_the_family():
    assert_allclose(known_mean(MODEL).hyper_cov, 0.0)
    assert_allclose(marginal(MODEL).task_cov, MODEL.hyper_cov + MODEL.task_cov)
    assert pooled(MODEL).num_levels == 1
    for model in (known_mean(MODEL), marginal(MODEL), pooled(MODEL)):
        assert model.rewards == BernoulliRewards()
    assert unknown_widths(MODEL).rewards == BernoulliRewards()


def test_other_parts_are_refused():
    with pytest.raises(ValueError, match="hierarchy must be a GaussianHierarchy, got"):
        hb.GeneralizedHierarchy(MODEL, "bernoulli")
    with pytest.raises(ValueError, match="rewards must be one of"):
        hb.GeneralizedHierarchy(ARMED, "beta")
    for parts in ({}, {"hierarchy": ARMED.to_dict()}, {"hierarchy": 3, "rewards": 3}):
        with pytest.raises(ValueError, match="parts must be of a model"):
            hb.GeneralizedHierarchy.from_dict(parts)
    assert "bernoulli" in repr(MODEL)
    assert np.array_equal(MODEL.covs[0], ARMED.covs[0])
