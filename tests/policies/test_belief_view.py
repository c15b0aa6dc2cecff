"""What a rule sees of a belief: the same numbers, checked, and nothing to change."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support.policies import both, small_prior
from support.rules import rewarded_belief
from support.states import belief_state
from support.timed import TimedBelief

from hierbandits.policies import BeliefView, Policy, Ucb, greedy, thompson


@both
def test_a_view_answers_as_the_belief_does(armed):
    belief = rewarded_belief(armed)
    view, nodes = BeliefView(belief), np.array([2, 0, 2])
    features = np.array([1, 0, 2]) if armed else np.random.default_rng(1).standard_normal((3, 3))
    assert (view.dim, view.is_armed) == (3, bool(armed))
    for repeats, fresh in ((1, False), (3, True)):
        ours, theirs = (
            draws(np.random.default_rng(5), nodes, repeats=repeats, fresh=fresh)
            for draws in (view.draws, belief._raw_draws)
        )
        for mine, his in zip(ours, theirs, strict=True):
            assert_array_equal(mine, his)
    assert_array_equal(view.draws(None, nodes)[0], belief._raw_draws(None, nodes)[0])
    for mine, his in zip(
        view.predict(nodes, features), belief.predict(nodes, features), strict=True
    ):
        assert_array_equal(mine, his)
    rows = np.array([2, 2, 0])
    looked_up = view.predict_rows(nodes, features, rows)
    assert_array_equal(looked_up.mean, belief.predict(nodes, features[rows]).mean)
    assert_array_equal(view.task(1).mean, belief.task(1).mean)
    assert_array_equal(view.uncertainty(1).shared, belief.uncertainty(1).shared)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda view, x: view.draws(np.random.default_rng(0), [9]), "nodes must be in"),
        (lambda view, x: view.draws(np.random.default_rng(0), [0.5]), "nodes must be integers"),
        (lambda view, x: view.draws(0, [1]), "rng must be a numpy Generator, got 0"),
        (lambda view, x: view.draws(None, [1], repeats=0), "repeats must be a whole number"),
        (lambda view, x: view.predict([0], [[np.nan] * 3]), "features must be finite"),
        (lambda view, x: view.predict([0], x), "features must have shape"),
        (lambda view, x: view.predict_rows([0], x, [7]), "rows must be in"),
        (lambda view, x: view.predict_rows([0, 1], x, [1]), "rows must match 2 nodes, got 1"),
        (lambda view, x: view.predict_rows([-1], x, [1]), "nodes must be in"),
        (lambda view, x: view.task(77), "node must be in"),
        (lambda view, x: view.draws(None, [0], time=[np.nan]), "time must be finite"),
        (lambda view, x: view.predict([0], x[:1], time=[1.0, 2.0]), "time must have shape"),
    ],
)
def test_wrong_questions_are_named(ask, message):
    belief = rewarded_belief(False)
    with pytest.raises(ValueError, match=message):
        ask(BeliefView(belief), np.eye(3))


@both
def test_nothing_that_a_rule_gets_changes_the_belief(armed):
    belief = rewarded_belief(armed)
    before, view = belief_state(belief), BeliefView(belief)
    public = {name for name in dir(view) if not name.startswith("_")}
    assert public == {
        *("best_arms", "dim", "draws", "is_armed", "predict", "predict_rows", "task", "time"),
        "uncertainty",
    }
    nodes = np.arange(belief.num_nodes)
    features = np.zeros(nodes.size, int) if armed else np.ones((nodes.size, 3))
    root = int(belief.roots[0])
    answers = [*view.draws(None, nodes), *view.predict(nodes, features)]
    answers += [view.task(root).mean, view.task(root).cov, view.uncertainty(0).within]
    for array in answers:
        array[...] = 7
    with pytest.raises(AttributeError):
        view.time = np.zeros(1)
    assert belief_state(belief) == before


def _asked(rule):
    """What a belief is told of time when this rule acts in a round with times."""
    belief = TimedBelief(small_prior(True), 2)
    policy = Policy(belief, rule)
    policy.act(np.random.default_rng(0), [0, 1, 0], time=[1.0, 2.0, 3.0])
    return belief.told


def test_rules_hand_the_times_of_a_round_to_the_belief():
    times = [1.0, 2.0, 3.0]
    assert _asked(thompson) == _asked(greedy) == [("draws", [0, 1, 0], times)]
    assert _asked(Ucb(1.0)) == [
        ("predict", [0, 0, 0, 1, 1, 1, 0, 0, 0], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    ]


def test_a_rule_of_ones_own_has_the_times_of_the_round():
    def rule(view, rng, nodes, arms):
        theta, slots = view.draws(rng, nodes, repeats=2)
        view.predict(nodes, np.zeros(3, int))
        view.predict([1], [0], time=[9.0])
        with pytest.raises(ValueError, match="time must be given for 1 nodes, since the round has"):
            view.predict([1], [0])
        return arms.best(arms.values(theta[slots[:3]]), rng)

    assert _asked(rule) == [
        ("draws", [0, 1, 0], [1.0, 2.0, 3.0]),
        ("predict", [0, 1, 0], [1.0, 2.0, 3.0]),
        ("predict", [1], [9.0]),
    ]
