"""`act` refuses the features that `learn` would refuse."""

import numpy as np
import pytest
from support.policies import D, every, small_policy, small_prior
from support.states import belief_state

from hierbandits import POLICIES, Arms

FORMS = {
    "shared": lambda table: table,
    "each": lambda table: np.stack([np.ones_like(table), table]),
    "sets": lambda table: [np.ones((2, D)), table],
    "arms": lambda table: Arms._raw_shared(table, 2),
    "rows": lambda table: Arms._raw_of_rows(table, np.array([0, 1]), np.array([1, 1])),
}


def _assert_refused(policy, arms, message):
    before, rng = belief_state(policy.belief), np.random.default_rng(0)
    luck = rng.bit_generator.state
    decided = None if policy.forced is None else policy.forced.decided.tolist()
    for act in (policy.act, policy.act_with_propensities):
        with pytest.raises(ValueError, match=message):
            act(rng, [0, 1], arms)
    assert rng.bit_generator.state == luck
    assert belief_state(policy.belief) == before
    assert policy.forced is None or policy.forced.decided.tolist() == decided


@every
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -2e60])
def test_features_that_no_belief_learns(name, form, wrong):
    table = np.ones((2, D))
    table[1, 1] = wrong
    _assert_refused(
        small_policy(name, False), FORMS[form](table), "arms must be finite and at most"
    )


def test_arms_of_another_form_are_refused():
    linear, armed = (POLICIES["TS"](small_prior(kind), 2) for kind in (False, True))
    _assert_refused(
        linear, Arms._raw_shared(np.ones((2, D + 1)), 2), r"arms must have shape \(any, 3\)"
    )
    _assert_refused(linear, Arms.of(None, 2, D, armed=True), "arms must have shape")
    _assert_refused(armed, Arms._raw_shared(np.ones((2, D)), 2), "arms must be integers")
    _assert_refused(armed, Arms._raw_shared(np.array([0, D]), 2), "arms must be in")


def test_arms_that_kernels_cannot_take_are_converted():
    policy, table = small_policy("HierGreedy", False), np.asfortranarray(np.eye(D)[::-1])
    table.flags.writeable = False
    odd = Arms._raw_shared(table.astype(np.float32), 2)
    rng = np.random.default_rng(0)
    expected = policy.act(rng, [0, 1], np.eye(D)[::-1].copy()).tolist()
    assert policy.act(rng, [0, 1], odd).tolist() == expected
    assert policy.act(rng, [0, 1], Arms._raw_shared(table, 2)).tolist() == expected
