"""Logged propensities are frequencies; tests/soak/service_propensities.py sees a million."""

import pytest
from support.propensities import TASKS, Plays
from support.seeded_secrets import seeded_secrets
from support.virtual_loop import run

ROUNDS = 350  # of 20 decisions
LEAST = 0.001 / len(TASKS)


@pytest.mark.parametrize("floor", [0.0, 0.1])
def test_propensities_of_posterior_draws_are_frequencies(tmp_path, floor):
    async def life():
        plays = await Plays.begin(tmp_path, rule="HierTS", floor=floor)
        await plays.go_on(ROUNDS)
        assert min(plays.p_values(floor)) > LEAST
        if floor:
            assert plays.p_value_of_weights() > 0.001
            assert abs(plays.standard_errors()) < 3

    with seeded_secrets(0):
        run(life())


def test_propensities_of_the_default_rule_are_frequencies(tmp_path):
    async def life():
        plays = await Plays.begin(tmp_path, rule=None)
        await plays.go_on(ROUNDS)
        assert plays.p_value_of_weights() > 0.001
        assert abs(plays.standard_errors()) < 3

    with seeded_secrets(0):
        run(life())
