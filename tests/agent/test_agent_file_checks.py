"""Files of agents that were made by hand: every part of them is checked."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.agent_lives import EVERY_PRIOR, long_life, new_agent
from support.agents import Clock

from hierbandits import Agent
from hierbandits.archive import read_archive, write_archive

FILES = Path(__file__).parent / "files"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The parts of a file for each kind of agent."""
    parts, folder = {}, tmp_path_factory.mktemp("saved")
    for form in (*EVERY_PRIOR, "adaptive", "adaptive-linear"):
        if form in EVERY_PRIOR:
            agent = new_agent(form, "HierTS", remember=40, draws=5)
            long_life(agent, form, np.random.default_rng(2))
        else:
            form_of = {"num_features": 2} if "linear" in form else {"arms": ["a", "b", "c"]}
            agent = Agent(**form_of, seed=0, clock=Clock())
            arms = np.eye(2) if "linear" in form else None
            for event in range(12):
                made = agent.decide(f"t{event % 3}", arms)
                if event % 4:
                    agent.reward(made.id, float(event))
        agent.save(folder / form)
        parts[form] = folder / form
    return parts


def _edited(saved, form, tmp_path, edit):
    """The path of a file whose parts were edited, with checksums of their own."""
    meta, arrays = read_archive(saved[form], "agent", 2)
    edit(meta, arrays)
    write_archive(tmp_path / "edited", "agent", 2, meta, arrays)
    return tmp_path / "edited"


def _set(*keys, to):
    """An edit that puts a value at the end of a path of keys; a function changes what was there."""

    def edit(meta, arrays):
        place = meta
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to(place[keys[-1]]) if callable(to) else to

    return edit


def _array(name, change):
    def edit(meta, arrays):
        arrays[name] = np.ascontiguousarray(change(arrays[name]))

    return edit


def _same_twice(meta, arrays):
    meta["settled"][1][0] = meta["settled"][0][0]


def _same_in_both(meta, arrays):
    meta["settled"][0][0] = meta["pending"][0][0]


def _place_twice(meta, arrays):
    meta["pending"][0][9] = meta["settled"][0][9]


def _out_of_order(meta, arrays):
    one, two = meta["pending"][:2]
    one[9], two[9] = two[9], one[9]


def _one_node_for_two(meta, arrays):
    meta["roster"]["tasks"][0][1] = meta["roster"]["tasks"][1][1]


def _one_name_for_two(meta, arrays):
    meta["roster"]["tasks"][0][0] = meta["roster"]["tasks"][1][0]


def _root_for_a_task(meta, arrays):
    (root,) = np.flatnonzero(arrays["parent"] < 0)
    meta["roster"]["tasks"][0][1] = int(root)


def _beyond(meta, arrays):
    meta["roster"]["tasks"][0][1] = len(arrays["parent"])


EDITS = {
    "history number": (_set("history", to=3), "history must be"),
    "history empty": (_set("history", to=""), "history must be"),
    "history long": (_set("history", to="x" * 70_000), "history must be"),
    "events": (_set("num_events", to=-1), "num_events"),
    "events true": (_set("num_events", to=True), "num_events"),
    "events text": (_set("num_events", to="7"), "num_events"),
    "added": (_set("num_added", to=-1), "num_added"),
    "added few": (_set("num_added", to=3), "place must be in"),
    "draws": (_set("draws", to=-1), "draws"),
    "draws many": (_set("draws", to=10**7), "draws must be at most"),
    "draws text": (_set("draws", to="5"), "draws"),
    "floor": (_set("floor", to=1.5), "floor"),
    "floor text": (_set("floor", to="much"), "floor"),
    "policy": (_set("policy", to="nobody"), "policy must be one of"),
    "policy list": (_set("policy", to=[]), "policy must be one of"),
    "remember": (_set("remember", to=-1), "remember"),
    "remember few": (_set("remember", to=2), "settled must hold 2 decisions at most"),
    "random": (_set("random", to={}), "state"),
    "random name": (_set("random", "bit_generator", to="MT19937"), "random must be a state of"),
    "random large": (_set("random", "state", "state", to=2**128), "random must have state below"),
    "random less": (_set("random", "state", "state", to=-1), "state must be a whole number"),
    "random even": (_set("random", "state", "inc", to=2), "random must be a state of"),
    "random spare": (_set("random", "has_uint32", to=2), "random must have has_uint32"),
    "random text": (_set("random", "uinteger", to="x"), "uinteger must be a whole number"),
    "normals": (_array("normals", lambda values: np.append(values, np.nan)), "normals"),
    "normals far": (_array("normals", lambda values: np.append(values, 41.0)), "normals"),
    "normals matrix": (_array("normals", lambda values: values.reshape(1, -1)), "normals"),
    "retired": (_set("retired", to=["nobody"]), "retired must be some of the arms"),
    "retired all": (_set("retired", to=["a", "b", "c", "d"]), "retired must be"),
    "retired twice": (_set("retired", to=["a", "a"]), "retired must have distinct names"),
    "arms twice": (_set("arms", 0, to="b"), "arms must have distinct names"),
    "arms few": (_set("arms", to=["a"]), "arms must name the 4 arms"),
    "arms none": (_set("arms", to=3), "arms must be several names"),
    "task node twice": (_one_node_for_two, "different nodes"),
    "task name twice": (_one_name_for_two, "different names"),
    "task at a root": (_root_for_a_task, "nodes of tasks|below those"),
    "task beyond": (_beyond, "tasks must be in"),
    "task below zero": (_set("roster", "tasks", 0, 1, to=-1), "tasks must be in"),
    "task at a fraction": (_set("roster", "tasks", 0, 1, to=0.5), "tasks must be integers"),
    "task name none": (_set("roster", "tasks", 0, 0, to=[None]), "task must be"),
    "task name long": (_set("roster", "tasks", 0, 0, to=["a", "b", "c"]), "task must be"),
    "task decisions": (_set("roster", "tasks", 0, 2, to=-1), "decisions must be"),
    "task best": (_set("roster", "tasks", 0, 3, to=10**9), "decisions must be"),
    "task best true": (_set("roster", "tasks", 0, 3, to=True), "best must be"),
    "group": (_set("roster", "groups", to=[[["a"], 0]]), "groups must have|different nodes"),
    "id number": (_set("pending", 0, 0, to=7), "ids must be"),
    "id empty": (_set("pending", 0, 0, to=""), "ids must be"),
    "id twice": (_same_twice, "ids of decisions must be different"),
    "id in both": (_same_in_both, "ids of decisions must be different"),
    "unknown task": (_set("pending", 0, 1, to="nobody"), "task must be one that the agent has met"),
    "arm": (_set("pending", 0, 2, to="nobody"), "arm must be one that was offered"),
    "arm list": (_set("pending", 0, 2, to=[1]), "arm must be one that was offered"),
    "propensity": (_set("pending", 0, 3, to=0.0), "propensity must be in"),
    "propensity large": (_set("settled", 0, 3, to=1.5), "propensity must be in"),
    "propensity text": (_set("settled", 0, 3, to="x"), "propensity must be numbers"),
    "time": (_set("pending", 0, 4, to=None), "time must be"),
    "time text": (_set("settled", 0, 4, to="now"), "time must be"),
    "offer": (_set("pending", 0, 5, to=10**6), "offer must be in"),
    "offer below zero": (_set("pending", 0, 5, to=-1), "offer must be in"),
    "offer text": (_set("pending", 0, 5, to="x"), "offer must be integers"),
    "offers": (_set("offers", 0, to=[[1]]), "offers must be named"),
    "offers none": (_set("offers", to=[]), "offer must be in"),
    "pending reward": (_set("pending", 0, 6, to=1.0), "reward must be there"),
    "settled none": (_set("settled", 0, 6, to=None), "reward must be there"),
    "reward huge": (_set("settled", 0, 6, to=1e61), "reward must be finite and at most"),
    "reward text": (_set("settled", 0, 6, to="x"), "reward must be"),
    "since": (_set("settled", 0, 7, to="x"), "settled must be"),
    "provisional": (_set("settled", 0, 8, to=1), "provisional must be"),
    "provisional pending": (_set("pending", 0, 8, to=True), "provisional must be"),
    "place": (_set("pending", 0, 9, to=-1), "place must be in"),
    "place twice": (_place_twice, "place of decisions must be different"),
    "place order": (_out_of_order, "place of pending decisions must rise"),
    "few parts": (_set("pending", 0, to=["id"]), "decisions must have 10 parts"),
    "no list": (_set("pending", to={"a": 1}), "decisions must have 10 parts"),
    "features": (_array("pending", lambda values: values + 1000), "features must be in"),
    "features few": (_array("pending", lambda values: values[1:]), "features must have shape"),
    "sums n": (_array("sums.n", lambda values: -values), "n must be numbers of events"),
    "sums part": (_array("sums.n", lambda values: values + 0.5), "n must be numbers of events"),
    "sums more": (_array("sums.n", lambda values: values + 1), "sums must be of the"),
    "sums nan": (_array("sums.xy", lambda values: values * np.nan), "xy must be finite"),
    "sums huge": (_array("sums.xy", lambda values: values + 1e300), "xy must be sums of n prod"),
    "sums lost": (_array("sums.lost_xy", lambda values: values + 1e300), "lost_xy must be finite"),
    "sums few": (_array("sums.xx", lambda values: values[:-1]), "sums must have|must have shape"),
    "evidence": (_array("evidence", lambda values: -values), "evidence must count"),
    "evidence part": (_array("evidence", lambda values: values + 0.5), "evidence must count"),
    "state": (_array("state", lambda values: values[..., :-1]), "state must have shape"),
    "state nan": (_array("state", lambda values: values * np.nan), "state must be finite"),
    "roots": (_array("roots", lambda values: values[..., :-1]), "belief must be of the agent's"),
    "roots text": (_array("roots", np.ravel), "belief must be of the agent's prior"),
    "parent": (_array("parent", lambda values: values + 1), "parent"),
    "parent fraction": (_array("parent", lambda values: values + 0.5), "parent must be integers"),
    "parent wide": (_array("parent", lambda v: v.astype(np.int64) + 2**32), "parent must be"),
    "level": (_array("level", lambda values: values + 1), "level"),
    "level few": (_array("level", lambda values: values[:-1]), "level"),
    "no prior": (_set("prior", to=[]), ""),
    "no belief": (_set("belief", to=3), ""),
    "no roster": (_set("roster", to=None), ""),
}  # fmt: skip


@pytest.mark.parametrize("edit", list(EDITS))
def test_a_part_that_makes_no_sense_is_refused(edit, saved, tmp_path):
    change, message = EDITS[edit]
    with pytest.raises(ValueError, match=f"edited is not a sound agent file: .*({message})"):
        Agent.load(_edited(saved, "armed", tmp_path, change), clock=Clock())


@pytest.mark.parametrize("form", ["armed", "linear", "deep", "common", "correlated"])
@pytest.mark.parametrize("other", ["armed", "linear", "deep", "common", "correlated", "adaptive"])
def test_a_belief_of_another_prior_is_refused(form, other, saved, tmp_path):
    if form == other:
        return

    def swap(meta, arrays):
        theirs, held = read_archive(saved[other], "agent", 2)
        meta["belief"] = theirs["belief"]
        for name in ("state", "roots", "parent", "level", "coordinates", "evidence"):
            arrays[name] = held[name]

    with pytest.raises(ValueError, match="not a sound agent file"):
        Agent.load(_edited(saved, form, tmp_path, swap), clock=Clock())


@pytest.mark.parametrize("part", ["hyper_mean", "covs", "noise_std"])
def test_a_prior_that_is_not_the_beliefs_is_refused(part, saved, tmp_path):
    def change(meta, arrays):
        prior = meta["prior"]
        prior[part] = (1.01 * np.array(prior[part]) + 0.01).tolist()

    with pytest.raises(ValueError, match="belief must be of what the agent's prior says"):
        Agent.load(_edited(saved, "armed", tmp_path, change), clock=Clock())


@pytest.mark.parametrize("form", ["adaptive", "adaptive-linear"])
def test_the_assumptions_of_an_adaptive_belief_are_those_of_its_agent(form, saved, tmp_path):
    change = _set("prior", "noise_std", to=0.5)
    with pytest.raises(ValueError, match="belief must be of the agent's prior"):
        Agent.load(_edited(saved, form, tmp_path, change), clock=Clock())
    for due in (0.0, -1.0, np.nan, np.inf):
        change = _array("due", lambda values, due=due: values * 0 + due)
        with pytest.raises(ValueError, match="due must be"):
            Agent.load(_edited(saved, form, tmp_path, change), clock=Clock())
    change = _array("n", lambda values: values + 1)
    with pytest.raises(ValueError, match="sums"):
        Agent.load(_edited(saved, form, tmp_path, change), clock=Clock())


@pytest.mark.parametrize("form", ["gamma", "beta"])
def test_sums_that_the_rewards_cannot_have_are_refused(form, saved, tmp_path):
    for spoil in (lambda sums: sums + 2.0**62, np.negative):
        wrong = _edited(saved, form, tmp_path, _array("sums.xx", spoil))
        with pytest.raises(ValueError, match=r"edited is not a sound agent file: .*must"):
            Agent.load(wrong, clock=Clock())


@pytest.mark.parametrize("form", ["bernoulli", "gamma"])
def test_an_arm_without_rewards_has_no_sum(form, saved, tmp_path):
    def spoil(meta, arrays):
        played = arrays["sums.xx"] > 0
        assert not played.all()
        arrays["sums.lost_xy"] = np.where(played, 0.0, 2.0**31)

    with pytest.raises(ValueError, match=r"sums\S* must"):
        Agent.load(_edited(saved, form, tmp_path, spoil), clock=Clock())


def test_a_prior_takes_no_more_room_than_its_file(saved, tmp_path):
    """Without its arrays, a mean of 50,000 features would ask for a matrix of 20 GB."""
    change = _set("prior", "hyper_mean", to=[0.0] * 50_000)
    with pytest.raises(ValueError, match="belief must be of the agent's prior"):
        Agent.load(_edited(saved, "adaptive-linear", tmp_path, change), clock=Clock())


def test_a_group_has_the_node_that_its_tasks_hang_from(saved, tmp_path):
    def swap(meta, arrays):
        one, two = meta["roster"]["groups"][:2]
        one[1], two[1] = two[1], one[1]

    with pytest.raises(ValueError, match="tasks must have nodes below those of their groups"):
        Agent.load(_edited(saved, "deep", tmp_path, swap), clock=Clock())
    for edit in (
        _set("roster", "groups", to=[]),
        _set("roster", "groups", 0, 0, to=["a", "b"]),
        _set("roster", "groups", 0, 0, to=[]),
        _set("roster", "groups", 0, 1, to=-1),
    ):
        with pytest.raises(ValueError, match="not a sound agent file"):
            Agent.load(_edited(saved, "deep", tmp_path, edit), clock=Clock())


def test_a_file_from_before_arms_had_factors_is_refused_by_name():
    with pytest.raises(ValueError, match=r"adaptive-2\.agent .* arm vectors, got common part"):
        Agent.load(FILES / "adaptive-2.agent", clock=Clock())


@pytest.mark.parametrize("form", ["deep"])
def test_a_file_of_an_earlier_build_loads(form):
    """Written before files had marks and named their writers."""
    agent = Agent.load(FILES / f"{form}-2.agent", clock=Clock())
    known = json.loads((FILES / f"{form}-2.json").read_text())
    assert [decision.id for decision in agent.pending] == known["pending"]
    for name, column in agent.table().items():
        expected = known["table"][name]
        if name in ("mean", "low", "high", "within_var", "shared_var"):
            np.testing.assert_allclose(column, expected, rtol=1e-9, atol=1e-12)
        else:
            assert json.loads(json.dumps(column)) == expected
    agent.reward(agent.decide(agent.tasks[0]).id, 1.0)
