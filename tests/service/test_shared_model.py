"""What workers can share, and what is refused by name when a policy is created."""

import numpy as np
import pytest
from msgspec.structs import replace
from support.shared_stores import ARMED, ARMS, FAMILIES, OF_FAMILIES, SETTINGS, UNKNOWN

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_model import family_of, shared_model


def test_gaussian_models_of_two_levels_are_shared():
    for settings in SETTINGS.values():
        assert shared_model(settings).num_levels == 2
    assert isinstance(shared_model(PolicySettings(arms=ARMS)), UnknownWidths)
    assert isinstance(shared_model(PolicySettings(num_features=3)), UnknownWidths)
    alone = PolicySettings(arms=ARMS, prior=model_to_dict(ARMED), rule="TS")
    np.testing.assert_array_equal(shared_model(alone).hyper_cov, 0.0)


def test_families_of_known_widths_are_shared():
    for kind, settings in OF_FAMILIES.items():
        model = shared_model(settings)
        assert isinstance(model, hb.GeneralizedHierarchy)
        assert family_of(model) == FAMILIES[kind].rewards
    given = PolicySettings(arms=ARMS, prior=model_to_dict(ARMED), rewards="poisson")
    assert family_of(shared_model(given)) == FAMILIES["counts"].rewards
    assert family_of(ARMED) is None


def test_families_of_unknown_widths_are_shared():
    for settings in UNKNOWN.values():
        model = shared_model(settings)
        assert isinstance(model, UnknownFamilyWidths)
        assert settings.rewards == family_of(model).NAME
    stated = OF_FAMILIES["clicks"]  # whose widths the rule takes for unknown
    model = shared_model(replace(stated, rule="AdaptiveHierTS"))
    assert isinstance(model, UnknownFamilyWidths)


DEEP = hb.GaussianHierarchy.armed(
    3, hyper_std=1.0, group_stds=[1.0], task_std=0.3, noise_std=0.5, arms=ARMS
)
KNOWN = {"arms": ARMS, "prior": model_to_dict(ARMED)}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"mode": "shadow"}, "mode must be 'live' where workers share"),
        ({"sticky": True}, "sticky must be False where workers share"),
        ({"most_tasks": 5}, "most_tasks must be None where"),
        (
            {"prior": model_to_dict(hb.BetaHierarchy(arms=ARMS))},
            "prior must be a Gaussian hierarchy, with or without a family of rewards, or none",
        ),
        ({"arms": None, "prior": model_to_dict(DEEP)}, "prior must have two levels.*, got 3"),
        ({**KNOWN, "rule": "HierTS-forced"}, "rule must not count the decisions"),
        ({**KNOWN, "rule": "PooledTS"}, "rule must keep tasks apart .*, got 'PooledTS'"),
        ({**KNOWN, "rule": "Nobody"}, "rule must be one of HierTS, .*got 'Nobody'"),
    ],
)
def test_what_cannot_be_shared_is_refused_by_name(parts, words):
    with pytest.raises(ValueError, match=words):
        shared_model(PolicySettings(**{"arms": ARMS} | parts))
