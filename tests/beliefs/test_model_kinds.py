"""Every kind of model has its belief, its record of a log and its tag in files."""

import json

import numpy as np
import pytest
from support.states import belief_state

from hierbandits import (
    AdaptiveBelief,
    Belief,
    BetaHierarchy,
    GammaHierarchy,
    GaussianHierarchy,
    GeneralizedHierarchy,
    GridBelief,
    MatchedBelief,
    TaskSums,
    UnknownWidths,
)
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.model_kinds import (
    KINDS,
    belief_after,
    belief_in,
    kind_of,
    model_from_dict,
    model_to_dict,
)
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.variants import pooled

GAUSSIAN = GaussianHierarchy.armed(
    arms=["a", "b"], hyper_mean=[0.5, -1.0], hyper_std=0.8, task_std=0.3, noise_std=0.6
)
WIDTHS = UnknownWidths.of(2, armed=True, noise_std=0.6, hyper_mean=[0.5, -1.0])
CLICKS = GeneralizedHierarchy(GAUSSIAN, "bernoulli")
OPEN_CLICKS = UnknownFamilyWidths(WIDTHS, "bernoulli")
RATES = BetaHierarchy(arms=["a", "b"], hyper_mean=[0.5, -1.0], task_std=[0.3, 0.4])
COUNTS = GammaHierarchy(2, hyper_std=[0.5, 0.7], task_factor=2.0, resolution=16)
MODELS = {
    "gaussian hierarchy": (GAUSSIAN, Belief),
    "unknown widths": (WIDTHS, AdaptiveBelief),
    "generalized hierarchy": (CLICKS, MatchedBelief),
    "unknown family widths": (OPEN_CLICKS, AdaptiveMatchedBelief),
    "beta hierarchy": (RATES, GridBelief),
    "gamma hierarchy": (COUNTS, GridBelief),
}


KNOWN_KINDS = (
    "belief",
    "adaptive belief",
    "matched belief",
    "adaptive matched belief",
    "grid belief",
)


def test_the_table_has_every_kind_once():
    assert [kind.tag for kind in KINDS] == list(MODELS)
    for tag, (model, belief) in MODELS.items():
        kind = kind_of(model)
        assert (kind.tag, kind.belief, kind.record) == (tag, belief, TaskSums)
        assert type(belief_in(model, 3)) is belief
        assert belief.KIND in KNOWN_KINDS


@pytest.mark.parametrize("tag", MODELS)
def test_a_model_comes_back_from_plain_data(tag):
    model, _ = MODELS[tag]
    parts = json.loads(json.dumps(model_to_dict(model)))
    assert parts["kind"] == tag
    again = model_from_dict(parts)
    assert type(again) is type(model)
    assert model_to_dict(again) == model_to_dict(model)


@pytest.mark.parametrize("parts", [{}, {"kind": "odd"}, GAUSSIAN.to_dict(), None, [1]])
def test_plain_data_without_a_known_kind_are_refused(parts):
    with pytest.raises(ValueError, match="kind must be one of 'gaussian hierarchy', 'unknown wid"):
        model_from_dict(parts)


@pytest.mark.parametrize("model", [None, 3.0, "HierTS", [GAUSSIAN], GaussianHierarchy])
def test_what_is_no_model_is_refused(model):
    for function in (kind_of, belief_in, model_to_dict):
        with pytest.raises(
            ValueError, match="prior must be a GaussianHierarchy or UnknownWidths or"
        ):
            function(model)


def test_beliefs_are_made_as_by_their_classes():
    means = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours = belief_in(GAUSSIAN, 3, 2, means)
    assert belief_state(ours) == belief_state(Belief(GAUSSIAN, 3, 2, means))
    listed = belief_in(WIDTHS, population=[0, 1, 1])
    assert belief_state(listed) == belief_state(AdaptiveBelief(WIDTHS, population=[0, 1, 1]))
    with pytest.raises(ValueError, match="hyper_means must not be given"):
        belief_in(WIDTHS, 3, 2, means)


@pytest.mark.parametrize("model", [GAUSSIAN, pooled(GAUSSIAN), WIDTHS])
def test_a_belief_after_a_log_has_learned_its_rows(model):
    rng, population = np.random.default_rng(0), np.array([0, 1, 0])
    tasks, arms, rewards = rng.integers(0, 3, 30), rng.integers(0, 2, 30), rng.normal(size=30)
    sums = TaskSums.zeros(3, 2, armed=True)
    sums.add(tasks, arms, rewards)
    warm, cold = belief_after(model, sums, population), belief_in(model, population=population)
    nodes = np.arange(3) if model.num_levels == 2 else cold.roots[population]
    cold.observe(nodes[tasks], arms, rewards)
    for node in nodes.tolist():
        np.testing.assert_allclose(warm.task(node).mean, cold.task(node).mean, atol=1e-9)
    np.testing.assert_array_equal(warm.num_rewards, cold.num_rewards)
    with pytest.raises(ValueError, match="sums must be TaskSums, got array"):
        belief_after(model, rewards, population)
    with pytest.raises(ValueError, match="sums must hold 3 tasks with 2 arms"):
        belief_after(model, sums.rows(np.array([0, 1])), population)
