"""A family that gives no number for a reward is named, and nothing has changed."""

import numpy as np
import pytest
from support.own_families import WRONG, NegativeBinomial
from support.states import belief_state

import hierbandits as hb
from hierbandits.models import PoissonRewards

ARMED = hb.GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
FORMS = {
    "arms": (ARMED, [0, 1, 0, 1]),
    "features": (
        hb.GaussianHierarchy.linear(2, hyper_std=1.0, task_std=0.5, noise_std=1.0),
        [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 1.0]],
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("form", FORMS)
def test_a_family_that_gives_no_number_is_named(form, wrong):
    prior, features = FORMS[form]
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(prior, WRONG[wrong]), num_tasks=3)
    belief.observe([0, 1], features[:2], [1.0, 2.0])
    before = belief_state(belief)
    with pytest.raises(ValueError, match=r"family 'wrong' .* reward of 9 \(exposure 1\) at \[2\]"):
        belief.observe([0, 1, 2, 0], features, [1.0, 2.0, 9.0, 1.0])
    assert belief_state(belief) == before
    belief.observe([2], features[:1], [1.0])
    assert belief.num_rewards.tolist() == [3.0]


def test_log_densities_that_overflow_are_named():
    far = hb.GaussianHierarchy.armed(
        1, hyper_mean=800.0, hyper_std=1.0, task_std=1.0, noise_std=1.0
    )
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(far, NegativeBinomial(1.5)), num_tasks=1)
    with pytest.raises(ValueError, match="family 'negative binomial'"):
        belief.observe([0], [0], [0.0])


def test_an_own_family_that_is_right_learns_as_the_packages_own():
    """Counts of a family that does what Poisson does: to the last digit but for its exp."""

    class Own(PoissonRewards):
        __slots__ = ()
        NAME = "own counts"

    beliefs = []
    for family in (Own(), PoissonRewards()):
        beliefs.append(hb.MatchedBelief(hb.GeneralizedHierarchy(ARMED, family), num_tasks=2))
        beliefs[-1].observe([0, 1, 0], [0, 1, 1], [2.0, 0.0, 7.0])
    assert [belief.family.is_known for belief in beliefs] == [False, True]
    np.testing.assert_allclose(*(belief.task(0).mean for belief in beliefs), rtol=1e-12)
