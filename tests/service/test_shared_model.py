"""What workers can share, and what is refused by name when a policy is created."""

import numpy as np
import pytest
from support.shared_stores import ARMED, ARMS, FAMILIES, OF_FAMILIES, SETTINGS

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
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


DEEP = hb.GaussianHierarchy.armed(
    3, hyper_std=1.0, group_stds=[1.0], task_std=0.3, noise_std=0.5, arms=ARMS
)
KNOWN = {"arms": ARMS, "prior": model_to_dict(ARMED)}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"mode": "shadow"}, "mode must be 'live' where workers share"),
        ({"sticky": True}, "sticky must be False where workers share"),
        ({"reward_wait": 60.0}, "reward_wait must be None where workers share"),
        ({"ratio_check": "rewards"}, "ratio_check must be 'none' where"),
        ({"most_tasks": 5}, "most_tasks must be None where"),
        ({"rewards": "bernoulli"}, "prior must be a Generalized.*: learn a prior from a"),
        (
            {"prior": model_to_dict(hb.BetaHierarchy(arms=ARMS))},
            "prior must be a GeneralizedHierarchy, which states all widths",
        ),
        ({"arms": None, "prior": model_to_dict(DEEP)}, "prior must have two levels.*, got 3"),
        ({**KNOWN, "rule": "HierTS-forced"}, "rule must not count the decisions"),
        ({**KNOWN, "rule": "PooledTS"}, "prior must have two levels.*, got 1"),
    ],
)
def test_what_cannot_be_shared_is_refused_by_name(parts, words):
    with pytest.raises(ValueError, match=words):
        shared_model(PolicySettings(**{"arms": ARMS} | parts))
