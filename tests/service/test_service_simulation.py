"""Lives of a policy whose ledger fails: tests/soak/service_simulation.py lives 10,000 of them."""

import pytest
from support.service_simulation import simulate


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_acknowledged_is_stored_is_learned_exactly_once_whatever_fails(first):
    faults, crossed = 0, 0
    for seed in range(first, first + 25):
        try:
            counts = simulate(seed)
            faults += counts["faults"]
            crossed += counts["guardrails crossed"] > 0
        except Exception as error:
            raise AssertionError(f"simulate({seed}) fails: {error!r}") from error
    assert faults > 25
    assert crossed > 2


def test_a_seed_lives_the_same_life_again():
    assert simulate(7) == simulate(7)


def test_a_deletion_that_was_not_stored_is_not_told_as_done():
    """In this life it is asked for again while the policy is loaded once more."""
    assert simulate(29157)["tasks deleted"] > 0
