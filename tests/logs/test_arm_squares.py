"""The squares of rewards by task and arm, in one pass."""

import numpy as np
import pytest
from support.learn_logs import drawn

from hierbandits.logs import ArmSquares, GroupSums, Split


@pytest.mark.parametrize("batch_rows", [7, 10_000])
def test_one_pass_gives_the_squares_of_both_parts(batch_rows):
    rows = drawn(1, armed=True, tasks=30)
    split, squares, sums = Split.held_out(0.25, 3), ArmSquares(2), GroupSums(2)
    for batch in rows.log(batch_rows=batch_rows).batches():
        groups = split.groups(batch.numbers)
        squares.add(batch, groups)
        sums.add(batch, groups)
    for group in (0, 1):
        assert squares.of([group]).shape == sums.total().xy.shape
        np.testing.assert_allclose(squares.of([group]).sum(1), sums.of([group]).yy)
    np.testing.assert_allclose(squares.total(), squares.of([0]) + squares.of([1]))


def test_squares_are_of_their_task_and_arm():
    rows, squares, sums = drawn(2, armed=True), ArmSquares(), GroupSums()
    for batch in rows.log(batch_rows=5).batches():
        squares.add(batch)
        sums.add(batch)
    total = sums.total()
    played = total.xx > 0
    assert (squares.total()[~played] == 0).all()
    alone = total.xx == 1
    np.testing.assert_allclose(squares.total()[alone], total.xy[alone] ** 2)
    assert (squares.total() * total.xx >= total.xy**2 * (1 - 1e-12)).all()
