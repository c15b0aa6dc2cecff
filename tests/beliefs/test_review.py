"""A look at widths in pieces of any size."""

import numpy as np
from support.adaptive import TASKS, adaptive_belief, assert_same_knowledge, drawn_events

from hierbandits import Belief
from hierbandits.beliefs.growing_sums import GrowingSums
from hierbandits.beliefs.review import Review
from hierbandits.beliefs.width_refit import DRAWS, WARM_UP, WidthRefit, most_rewarded


def _review():
    belief, widths = adaptive_belief(True, None)
    belief.observe(*drawn_events(1, 50, True))
    sums = GrowingSums(belief.sums)
    refit = WidthRefit(widths, sums.rows(most_rewarded(sums.n, widths)))
    return belief, sums, Review(refit, np.array([60.0]))


def test_a_piece_is_a_draw_at_least_and_then_sixteen_tasks():
    belief, sums, review = _review()
    belief.add(TASKS, 30)
    sums.make_room(belief.num_nodes)
    for made in range(1, WARM_UP + DRAWS + 1):
        assert not review.advance(belief, sums, 1.0)
        assert review.refit._done == made
    ends = []
    while not ends or not ends[-1]:
        ends.append(review.advance(belief, sums, 1.0))
    assert ends == [False, False, True]  # 36 nodes
    assert review.folded == belief.num_nodes
    right = Belief.from_sums(review.refit.hierarchy(), sums.rows(np.arange(TASKS)))
    assert_same_knowledge(review.belief, right, range(TASKS + 1))


def test_all_the_work_is_done_at_once_if_there_is_no_limit():
    belief, sums, review = _review()
    assert review.advance(belief, sums, np.inf)
    np.testing.assert_array_equal(review.belief.num_rewards, [50.0])


def test_nodes_that_are_folded_must_be_told():
    _, _, review = _review()
    assert review.knows(np.array([0, 3])).size == 0
    review.folded = 3
    np.testing.assert_array_equal(review.knows(np.array([4, 2, 3, 0])), [1, 3])
