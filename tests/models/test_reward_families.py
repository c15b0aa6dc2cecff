"""Families by their names, and from files."""

import pytest

from hierbandits.models import FAMILIES, GaussianRewards
from hierbandits.models.reward_families import checked_family, family_from_dict


@pytest.mark.parametrize("family", [kind() for kind in FAMILIES.values()] + [GaussianRewards(0.3)])
def test_a_family_is_its_name_and_numbers(family):
    assert family_from_dict(family.to_dict()) == family
    assert checked_family(family) is family
    assert checked_family(family.NAME) == FAMILIES[family.NAME]()


def test_unknown_families_are_refused():
    with pytest.raises(ValueError, match="rewards must be one of gaussian, bernoulli, binomial"):
        checked_family("gamma")
    with pytest.raises(ValueError, match="rewards must be one of"):
        family_from_dict({"noise_std": 1.0})
    with pytest.raises(ValueError, match="rewards must have the parts of a bernoulli family"):
        family_from_dict({"name": "bernoulli", "noise_std": 1.0})
    with pytest.raises(ValueError, match="noise_std must be positive"):
        family_from_dict({"name": "gaussian", "noise_std": 0.0})
