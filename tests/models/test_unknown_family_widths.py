"""Unknown widths of linear predictors."""

import json

import numpy as np
import pytest

import hierbandits as hb
from hierbandits.models.generalized_hierarchy import with_family
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.variants import unknown_widths

OPEN = hb.UnknownWidths.of(3, armed=True, hyper_mean=[0.1, 0.2, 0.3])


def test_it_is_made_of_a_form_and_a_family():
    model = with_family(OPEN, "poisson")
    assert isinstance(model, UnknownFamilyWidths)
    assert (model.dim, model.num_levels, model.is_armed, model.widths_known) == (3, 2, True, False)
    assert with_family(model, "poisson") is model
    with pytest.raises(ValueError, match="rewards must be those of the prior"):
        with_family(model, "bernoulli")
    again = UnknownFamilyWidths.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.to_dict() == model.to_dict()
    with pytest.raises(ValueError, match="widths must be UnknownWidths, got 3"):
        UnknownFamilyWidths(3, "poisson")
    with pytest.raises(ValueError, match="parts must be of a model"):
        UnknownFamilyWidths.from_dict({})


def test_its_first_widths_allow_rates_of_all_kinds():
    hierarchy = UnknownFamilyWidths(OPEN, "bernoulli").hierarchy()
    np.testing.assert_array_equal(hierarchy.hyper_mean, OPEN.hyper_mean)
    np.testing.assert_allclose(np.diagonal(hierarchy.hyper_cov), 4.0)
    np.testing.assert_allclose(np.diagonal(hierarchy.task_cov), 0.5)


def test_an_arm_is_added_with_the_mean_of_the_others():
    wider = UnknownFamilyWidths(OPEN, "bernoulli").with_arm("new", None, None, None)
    assert wider.dim == 4
    assert wider.hyper_mean[-1] == pytest.approx(0.2)
    with pytest.raises(ValueError, match="task_std must not be given"):
        wider.with_arm("other", None, None, 1.0)


def test_a_stated_model_has_its_form():
    prior = hb.GaussianHierarchy.armed(2, hyper_mean=-2.0, hyper_std=1, task_std=1, noise_std=1)
    model = unknown_widths(hb.GeneralizedHierarchy(prior, "bernoulli"))
    assert model.rewards.NAME == "bernoulli"
    np.testing.assert_array_equal(model.hyper_mean, [-2.0, -2.0])
