"""A rejected batch changes nothing at all, and its message names what was wrong."""

import numpy as np
import pytest

from hierbandits import Belief, GaussianHierarchy, GeneralizedHierarchy, TaskSums

NAN, INF = float("nan"), float("inf")


def _belief(armed):
    if armed:
        prior = GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.5, noise_std=0.4)
        first = ([0, 1], [2, 0], [1.0, 2.0])
    else:
        prior = GaussianHierarchy(
            hyper_mean=np.zeros(3), hyper_cov=np.eye(3), task_cov=np.eye(3), noise_std=0.4
        )
        first = ([0, 1], np.eye(3)[:2], [1.0, 2.0])
    belief = Belief(prior, 2)
    belief.observe(*first)
    return belief


def _bits(belief):
    meta, arrays = belief.state()
    return str(meta), {name: array.tobytes() for name, array in arrays.items()}


X = np.eye(3)[:2]


@pytest.mark.parametrize(
    ("tasks", "features", "rewards", "noise", "message"),
    [
        ([0, 3], X, [1.0, 2.0], None, r"tasks must be in \[0, 3\), got 3: there are 3 nodes"),
        ([0, -1], X, [1.0, 2.0], None, "tasks must be in .* got -1"),
        ([0, 2**40], X, [1.0, 2.0], None, "tasks must be in"),
        ([0.0, 1.0], X, [1.0, 2.0], None, "tasks must be integers"),
        ([True, False], X, [1.0, 2.0], None, "tasks must be integers"),
        (["a", "b"], X, [1.0, 2.0], None, "tasks must be integers"),
        (0, X, [1.0, 2.0], None, "tasks must have shape"),
        ([0, 1], X[:1], [1.0, 2.0], None, r"features must have shape \(2, 3\) to match tasks"),
        ([0, 1], X[:, :2], [1.0, 2.0], None, "features must have shape"),
        (
            [0, 1],
            [[1, 2, 3], [4, 5]],
            [1.0, 2.0],
            None,
            "features must be numbers in rows of one length",
        ),
        (
            [0, 1],
            [[1, NAN, 0], [0, 1, 0]],
            [1.0, 2.0],
            None,
            r"features must be finite.* nan at \[0, 1\]",
        ),
        ([0, 1], [[INF, 0, 0], [0, 1, 0]], [1.0, 2.0], None, "features must be finite"),
        ([0, 1], X * 1e200, [1.0, 2.0], None, "features must be finite and at most 2.3094e"),
        ([0, 1], X, [1.0, NAN], None, r"rewards must be finite.* got nan at \[1\]"),
        ([0, 1], X, [1.0, -INF], None, "rewards must be finite"),
        ([0, 1], X, [1.0], None, r"rewards must have shape \(2,\) to match tasks, got \(1,\)"),
        ([0, 1], X, 1.0, None, "rewards must have shape"),
        ([0, 1], X, ["1", "2"], None, "rewards must be numbers"),
        ([0, 1], X, [None, 1.0], None, "rewards must be numbers"),
        ([0, 1], X, [1.0, 2.0], [0.1, 0.0], "noise_std must be positive, got 0.0"),
        ([0, 1], X, [1.0, 2.0], [0.1, -1.0], "noise_std must be positive"),
        ([0, 1], X, [1.0, 2.0], [0.1, NAN], "noise_std must be finite"),
        ([0, 1], X, [1.0, 2.0], 0.1, "noise_std must have shape"),
    ],
)
def test_a_bad_batch_changes_nothing(tasks, features, rewards, noise, message):
    belief = _belief(armed=False)
    before = _bits(belief)
    with pytest.raises(ValueError, match=message):
        belief.observe(tasks, features, rewards, noise)
    assert _bits(belief) == before


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([0, 3], r"features must be in \[0, 3\), got 3: there are 3 arms"),
        ([0, -1], "features must be in"),
        ([0.0, 1.0], "features must be integers"),
        ([0], r"features must have shape \(2,\)"),
        (np.eye(3)[:2].astype(int), "features must have shape"),
    ],
)
def test_bad_arms_change_nothing(features, message):
    belief = _belief(armed=True)
    before = _bits(belief)
    with pytest.raises(ValueError, match=message):
        belief.observe([0, 1], features, [1.0, 2.0])
    assert _bits(belief) == before


@pytest.mark.parametrize("armed", [False, True])
def test_bad_questions_are_refused(armed):
    belief = _belief(armed)
    x = 0 if armed else np.ones(3)
    before = _bits(belief)
    with pytest.raises(ValueError, match="tasks must be in"):
        belief.task(99)
    with pytest.raises(ValueError, match="population must be in"):
        belief.hyper(1)
    with pytest.raises(ValueError, match="mu must have shape"):
        belief.task_given(0, np.zeros(4))
    with pytest.raises(ValueError, match="rewards must be finite"):
        belief.revise(0, x, 1.0, NAN)
    with pytest.raises(ValueError, match="noise_std must be positive"):
        belief.revise(0, x, 1.0, 2.0, noise_std=0.0)
    with pytest.raises(ValueError, match="tasks must be in"):
        belief.sample(np.random.default_rng(0), [5])
    with pytest.raises(ValueError, match="parent must be above the level of tasks"):
        belief.add(0)
    with pytest.raises(ValueError, match="parent must be in"):
        belief.add(3)
    with pytest.raises(ValueError, match="count must be a whole number"):
        belief.add(2, -1)
    with pytest.raises(ValueError, match="must be a whole number"):
        belief.add_populations(-1)
    with pytest.raises(ValueError, match="prior must have the form"):
        belief.add_populations(1, _belief(not armed)._nodes.levels.hierarchies[0])
    with pytest.raises(ValueError, match="hyper_means must have shape"):
        belief.add_populations(2, hyper_means=[[0.0, 0.0, 0.0]])
    assert _bits(belief) == before


def test_bad_shapes_of_a_forest_are_refused():
    prior = _belief(True)._nodes.levels.hierarchies[0]
    with pytest.raises(ValueError, match="one count for each of the 1 levels"):
        Belief(prior, (2, 3))
    with pytest.raises(ValueError, match="num_tasks must be a whole number"):
        Belief(prior, -1)
    with pytest.raises(ValueError, match="num_populations must be a whole number"):
        Belief(prior, 1, 1.5)
    with pytest.raises(ValueError, match="prior must be a GaussianHierarchy"):
        Belief("HierTS")
    with pytest.raises(ValueError, match="prior must be a GaussianHierarchy"):
        Belief([])
    with pytest.raises(ValueError, match="prior must be a GaussianHierarchy or several, got Gen"):
        Belief(GeneralizedHierarchy(prior, "bernoulli"))
    deeper = GaussianHierarchy.armed(
        3, hyper_std=1.0, group_stds=[1.0], task_std=1.0, noise_std=1.0
    )
    with pytest.raises(ValueError, match="hierarchies of one depth"):
        Belief([prior, deeper])


def test_bad_sums_are_refused():
    sums = TaskSums.zeros(2, 3)
    with pytest.raises(ValueError, match="rewards must be finite"):
        sums.add([0, 1], X, [1.0, NAN])
    assert sums.n.sum() == sums.xx.sum() == 0
    with pytest.raises(ValueError, match="tasks must be in"):
        sums.add([0, 2], X, [1.0, 1.0])
    with pytest.raises(ValueError, match="other must have xx of shape"):
        sums + TaskSums.zeros(3, 3)
    with pytest.raises(ValueError, match="sums must hold"):
        Belief.from_sums(_belief(True)._nodes.levels.hierarchies[0], sums)
    armed = TaskSums.zeros(2, 3, armed=True)
    with pytest.raises(ValueError, match="features must have one arm per task"):
        armed.add([0, 1], [1], [1.0, 1.0])


@pytest.mark.parametrize(
    "form", [list, tuple, np.asfortranarray, np.float32, "readonly", "strided"]
)
def test_any_array_of_numbers_will_do(form):
    """Lists, other types, orders and read-only arrays give the same posterior."""
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (6, 3)).astype(float)
    y, tasks = rng.integers(-3, 4, 6).astype(float), np.array([0, 1, 0, 1, 1, 0], np.int16)
    usual, other = _belief(False), _belief(False)
    usual.observe(tasks, x, y)
    if form == "readonly":
        x, y = x.copy(), y.copy()
        x.flags.writeable = y.flags.writeable = False
    elif form == "strided":
        x, y = np.repeat(x, 2, axis=0)[::2], np.repeat(y, 2)[::2]
    else:
        x, y = form(x), form(y)
    other.observe(tasks, x, y)
    assert _bits(usual) == _bits(other)


def test_an_empty_batch_is_nothing():
    belief = _belief(False)
    before = _bits(belief)
    belief.observe([], np.empty((0, 3)), [])
    assert belief.sample(np.random.default_rng(0), []).shape == (0, 3)
    assert _bits(belief) == before
