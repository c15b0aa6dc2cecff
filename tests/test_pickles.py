"""Pickles and copies of public values: the same, as immutable, and independent."""

import copy
import pickle

import numpy as np
import polars as pl
import pytest
from support.agent_lives import PRIORS
from support.states import belief_state

import hierbandits as hb
from hierbandits.beliefs import adaptive_belief

WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
ways = pytest.mark.parametrize("way", list(WAYS))
SUMS = hb.TaskSums.zeros(2, 3, armed=True)
SUMS.add([0, 1, 1], [0, 1, 2], [1.0, 2.0, 3.0])


def arrays_of(value):
    """All arrays that a value holds, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_of(part)]
    names = getattr(type(value), "__slots__", ())
    return [array for name in names for array in arrays_of(getattr(value, name, None))]


IMMUTABLE = {
    **PRIORS,
    "named": hb.GaussianHierarchy.armed(
        arms=["a", "b"], hyper_std=1.0, task_std=0.5, noise_std=1.0
    ),
    "unknown widths": hb.UnknownWidths.of(2, armed=False, hyper_mean=[1.0, 2.0]),
    "start": hb.Start(PRIORS["armed"], SUMS, ["s", "t"], ["x", "y", "z"]),
}


@pytest.mark.parametrize("name", list(IMMUTABLE))
@ways
def test_what_cannot_be_changed_cannot_be_changed_in_a_copy(name, way):
    value = IMMUTABLE[name]
    twin = WAYS[way](value)
    assert type(twin) is type(value)
    assert repr(twin) == repr(value)
    assert len(arrays_of(twin)) == len(arrays_of(value)) > 0
    for own, its in zip(arrays_of(value), arrays_of(twin), strict=True):
        assert own.tobytes() == its.tobytes()
        assert not own.flags.writeable
        assert not its.flags.writeable
    with pytest.raises(AttributeError):
        setattr(twin, type(twin).__slots__[0], 3.0)
    if isinstance(value, hb.GaussianHierarchy):
        assert twin.to_dict() == value.to_dict()
    if name == "start":
        assert (twin.tasks, twin.arms, twin.num_rows) == (("s", "t"), ("x", "y", "z"), 3)
        assert hb.Agent(twin).table() == hb.Agent(value).table()


def _learned(belief):
    rng = np.random.default_rng(0)
    tasks = rng.integers(0, 4, 30)
    features = rng.integers(0, belief.dim, 30) if belief.is_armed else rng.normal(size=(30, 2))
    belief.observe(tasks, features, rng.normal(size=30))
    return belief


def _belief(form):
    if form == "adaptive":
        return _learned(hb.AdaptiveBelief(hb.UnknownWidths.of(3, armed=True), 4))
    return _learned(hb.Belief(PRIORS[form], (2, 2) if "deep" in form else 4))


@pytest.mark.parametrize("form", [*PRIORS, "adaptive"])
@ways
def test_a_belief_and_its_copy_are_the_same_and_go_their_own_ways(form, way, monkeypatch):
    monkeypatch.setattr(adaptive_belief, "WORK", 1.0)  # so that looks are under way
    belief = _belief(form)
    twin = WAYS[way](belief)
    before = belief_state(belief)
    assert type(twin) is type(belief)
    assert belief_state(twin) == before
    _learned(twin)
    twin.add(int(twin.roots[0]))
    assert belief_state(belief) == before
    _learned(belief)
    belief.add(int(belief.roots[0]))
    assert belief_state(twin) == belief_state(belief)


@pytest.mark.parametrize("name", [name for name in hb.POLICIES if name != "OracleTS"])
@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_a_policy_and_its_copy_act_alike(name, way):
    policy = hb.POLICIES[name](PRIORS["armed"], num_tasks=4)
    tasks = np.arange(4)
    policy.learn(tasks, [0, 1, 2, 0], [1.0, 2.0, 3.0, 4.0])
    policy.act(np.random.default_rng(0), tasks)
    twin = WAYS[way](policy)
    before = belief_state(policy.belief)
    assert belief_state(twin.belief) == before
    choices = [each.act(np.random.default_rng(1), tasks).tolist() for each in (twin, policy)]
    assert choices[0] == choices[1]
    twin.learn(tasks, [1, 1, 1, 1], [9.0] * 4)
    assert belief_state(policy.belief) == before


@ways
def test_an_agent_says_that_files_are_for_this(way):
    agent = hb.Agent(PRIORS["armed"], seed=0)
    with pytest.raises(TypeError, match="not copied or pickled: save it to a file, and load that"):
        WAYS[way](agent)
    agent.decide("t")  # it is as good as before


@ways
def test_plain_values_are_the_same(way, tmp_path):
    agent = hb.Agent(PRIORS["linear"], arms=np.eye(2), seed=0)
    decision = agent.decide("t")
    assert tuple(WAYS[way](decision)) == tuple(decision)
    arms = hb.Arms.of(np.eye(2), 3, 2, armed=False, eligible=[True, False])
    twin = WAYS[way](arms)
    for own, its in zip(arrays_of(arms), arrays_of(twin), strict=True):
        assert own.tolist() == its.tolist()
    assert WAYS[way](hb.POLICIES["HierTS"]) == hb.POLICIES["HierTS"]
    totals = SUMS.totals()
    assert WAYS[way](totals) == totals
    task = _belief("deep").task(0)
    assert WAYS[way](task).mean.tolist() == task.mean.tolist()


@ways
def test_a_log_is_the_same(way, tmp_path):
    frame = pl.DataFrame({"task": ["s", "t"], "arm": ["a", "b"], "reward": [1.0, 2.0]})
    frame.write_csv(tmp_path / "log.csv")
    columns = hb.Columns(task="task", arm="arm", reward="reward")
    for source in (frame, tmp_path / "log.csv"):
        log = hb.Log.read(source, columns)
        twin = WAYS[way](log)
        assert twin.columns == columns
        assert twin.sums().sums.xy.tolist() == log.sums().sums.xy.tolist()
        with pytest.raises(AttributeError):
            twin.columns = None
