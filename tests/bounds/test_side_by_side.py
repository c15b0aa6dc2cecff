"""The table of all bounds: each cell is what the theorem itself returns."""

import pytest
from support.bound_priors import by_hand, linear

from hierbandits import GaussianHierarchy, bounds

SETS = ("repaired", "paper")


@pytest.mark.parametrize("num_concurrent", [None, 2])
def test_every_cell_is_that_of_its_theorem(num_concurrent):
    prior, eta = by_hand(), None if num_concurrent is None else 0.5
    rows = bounds.side_by_side(prior, 4, 8, num_concurrent, eta=eta)
    table = {label: values for label, values, _ in rows}
    assert len(table) == len(rows)
    for constants in SETS:
        options = {"constants": constants}
        if num_concurrent is None:
            bound = bounds.sequential(prior, 4, 8, **options)
        else:
            bound = bounds.concurrent(prior, 4, 8, num_concurrent, eta=eta, **options)
        expected = {label: value for label, value, _ in bound.rows()}
        expected["OracleTS"] = bounds.oracle(prior, 4, 8, **options).total
        expected["TS"] = bounds.independent(prior, 4, 8, **options).total
        expected["tasks to win"] = bounds.tasks_to_win(
            prior, 8, num_concurrent=num_concurrent, eta=eta, **options
        )
        assert {label: values[constants] for label, values in table.items()} == expected
    assert all(tuple(values) == SETS and meaning for _, values, meaning in rows)


def test_longer_arms_reach_every_theorem():
    """Arms of norm 2 are unit arms with parameters twice as long."""
    prior = by_hand()
    scaled = linear(4 * prior.hyper_cov, 4 * prior.task_cov, 0.5, 2 * prior.hyper_mean)
    longer = bounds.side_by_side(prior, 4, 8, 2, eta=2.0, max_norm=2.0)
    unit = bounds.side_by_side(scaled, 4, 8, 2, eta=0.5)
    for (label, one, _), (_, other, _) in zip(longer, unit, strict=True):
        assert one == pytest.approx(other), label


def test_never_winning_is_none():
    known = GaussianHierarchy.armed(2, hyper_std=0.0, task_std=1.0, noise_std=1.0)
    table = {label: values for label, values, _ in bounds.side_by_side(known, 4, 8)}
    assert table["tasks to win"] == {"repaired": None, "paper": None}
