"""Files of agents: resumed bit for bit, and refused if they are not sound."""

import json
import zipfile

import numpy as np
import pytest
from support.agent_lives import PRIORS, every_policy, live, long_life, new_agent
from support.agents import ARMED, ARMS, DEEP, LINEAR, Clock, state
from support.file_fuzz import fuzz
from support.kills import kills
from support.processes import in_child
from support.states import belief_state

from hierbandits import POLICIES, Agent, Belief, Recipe
from hierbandits.archive import read_archive, write_archive
from hierbandits.beliefs import adaptive_belief
from hierbandits.policies.greedy_rule import greedy


def _played(prior, policy, **options):
    arms = None if prior is ARMED else ARMS
    agent = Agent(prior, policy, seed=3, arms=arms, clock=Clock(), **options)
    rng = np.random.default_rng(0)
    for i in range(25):
        task = (f"r{i % 2}", i % 3) if prior is DEEP else f"t{i % 4}"
        decision = agent.decide(task)
        if i % 3:
            agent.reward(decision.id, rng.standard_normal())
    return agent


@pytest.mark.parametrize("prior", [ARMED, LINEAR, DEEP], ids=["armed", "linear", "deep"])
@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "OracleTS"])
def test_save_and_load_resume_bit_for_bit(prior, policy, tmp_path):
    options = {"draws": 20, "floor": 0.1} if policy == "HierTS" else {}
    agent = _played(prior, policy, **options)
    path = tmp_path / "agent.hb"
    agent.save(path)
    loaded = Agent.load(path, clock=Clock())
    assert state(loaded) == state(agent)
    rng = np.random.default_rng(1)
    for i in range(30):
        task = ("new", i % 4) if prior is DEEP else i % 6
        one, other = (a.decide(task, id=f"later-{i}") for a in (agent, loaded))
        assert tuple(one) == tuple(other)
        value = rng.standard_normal()
        waiting = agent.pending[0].id
        assert agent.reward(waiting, value) is loaded.reward(waiting, value) is True
    assert state(loaded) == state(agent)
    settled = next(iter(agent._state.ledger.settled.values()))
    assert loaded.reward(settled.decision.id, settled.reward) is False


@pytest.mark.parametrize("form", list(PRIORS))
@every_policy
def test_after_every_kind_of_event_a_saved_agent_resumes_bit_for_bit(form, policy, tmp_path):
    agent = new_agent(form, policy, remember=40)
    long_life(agent, form, np.random.default_rng(2))
    agent.save(tmp_path / "a")
    loaded = Agent.load(tmp_path / "a", clock=Clock())
    assert state(loaded) == state(agent)
    agent._books.clock.now = loaded._books.clock.now = 2000.0
    for each in (agent, loaded):
        each.expire(100, default=0.2)
        live(each, form, np.random.default_rng(3), name="later")
    assert state(loaded) == state(agent)


def test_sums_that_do_not_match_the_tasks_are_refused(tmp_path):
    agent = _played(ARMED, "HierTS")
    agent.save(tmp_path / "a")
    meta, arrays = read_archive(tmp_path / "a", "agent", 2)
    arrays |= {name: values[:-1] for name, values in arrays.items() if name.startswith("sums.")}
    write_archive(tmp_path / "a", "agent", 2, meta, arrays)
    with pytest.raises(ValueError, match="sums must have 4 rows, one for each task"):
        Agent.load(tmp_path / "a")


def test_numpy_numbers_are_saved_too(tmp_path):
    agent = Agent(ARMED, seed=0, draws=np.int64(10), floor=np.float32(0.5))
    agent.decide(np.int64(3))
    agent.save(tmp_path / "a")
    assert Agent.load(tmp_path / "a").tasks == [3]


def test_a_recipe_of_ones_own_is_handed_to_load(tmp_path):
    recipe = Recipe(lambda prior: prior, greedy, "mine")
    agent = Agent(ARMED, recipe, seed=0)
    agent.decide("t")
    agent.save(tmp_path / "a")
    with pytest.raises(ValueError, match="a recipe of its own: give policy"):
        Agent.load(tmp_path / "a")
    assert Agent.load(tmp_path / "a", policy=recipe).tasks == ["t"]
    Agent(ARMED).save(tmp_path / "b")
    with pytest.raises(ValueError, match="HierIDS: do not give policy"):
        Agent.load(tmp_path / "b", policy=recipe)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    agent = _played(LINEAR, "HierTS")
    agent.save(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    cut = tmp_path / "cut"
    for size in [*range(0, len(whole), 97), len(whole) - 1]:
        cut.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="not a sound agent file"):
            Agent.load(cut)


def test_flipped_bytes_are_refused_or_harmless(tmp_path):
    agent = _played(ARMED, "HierTS-forced")
    agent.save(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(whole), 300):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            loaded = Agent.load(tmp_path / "damaged", clock=Clock())
        except ValueError:
            refused += 1
        else:  # a byte of the container that carries nothing
            assert state(loaded) == state(agent)
    assert refused > 200


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(FileNotFoundError):
        Agent.load(path)
    for content in (b"", b"not a zip", b"PK\x03\x04" + bytes(100)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a sound agent file"):
            Agent.load(path)
    np.savez(path.with_suffix(".npz"), a=np.zeros(3))
    with pytest.raises(ValueError, match="not a sound agent file"):
        Agent.load(path.with_suffix(".npz"))
    Belief(ARMED, 2).save(path)
    with pytest.raises(ValueError, match="it holds belief version 2"):
        Agent.load(path)
    path.write_bytes(b"")
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="not a sound agent file"):
        Agent.load(path)


def test_a_file_holds_json_and_arrays_alone(tmp_path):
    agent = _played(LINEAR, "HierTS")
    agent.save(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        header = json.loads(archive.read("hierbandits.json"))
        assert (header["kind"], header["version"]) == ("agent", 2)
        assert header["meta"]["prior"]["kind"] == "gaussian hierarchy"
        names = {name for name in archive.namelist() if not name.endswith(".npy")}
        assert names == {"hierbandits.json", "mark.json"}


def test_a_failed_save_leaves_the_old_file(tmp_path):
    agent = _played(ARMED, "HierTS")
    path = tmp_path / "a"
    agent.save(path)
    before = path.read_bytes()
    agent._decider.floor = float("nan")  # which JSON cannot hold
    with pytest.raises(ValueError, match="JSON"):
        agent.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_saved_agent_resumes_bit_for_bit_while_it_looks_at_widths(tmp_path, monkeypatch):
    monkeypatch.setattr(adaptive_belief, "WORK", 1.0)
    agent = Agent(num_features=1, seed=3)

    def played(agent, number, seed):
        rng, arms = np.random.default_rng(seed), []
        for e in range(number):
            made = agent.decide(e % 7, rng.normal(size=(4, 1)))
            arms.append(made.arm)
            agent.reward(made.id, rng.normal())
        return arms

    played(agent, 50, 5)
    assert agent.belief._review is not None
    agent.save(tmp_path / "agent.hb")
    again = Agent.load(tmp_path / "agent.hb")
    later = [played(each, 400, 6) for each in (agent, again)]
    assert later[0] == later[1]
    assert belief_state(agent.belief) == belief_state(again.belief)


def test_a_file_that_another_saved_since_is_not_replaced(tmp_path):
    path = tmp_path / "a"
    agent = _played(ARMED, "HierTS")
    agent.save(path)
    agent.save(path)  # nobody else has
    other = Agent.load(path, clock=Clock())
    other.decide("t")
    other.save(path)
    theirs = path.read_bytes()
    agent.decide("u")
    message = (
        "a must be as it was loaded or saved here, but another has saved it since: load that file"
    )
    with pytest.raises(FileExistsError, match=message):
        agent.save(path)
    assert path.read_bytes() == theirs
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    agent.save(tmp_path / "b")
    agent.save(path, overwrite=True)
    assert "u" in Agent.load(path).tasks
    agent.save(path)
    with pytest.raises(FileExistsError):
        other.save(path)
    path.unlink()
    other.save(path)  # nothing is lost


def test_what_a_child_saves_is_noticed_by_its_parent_and_under_any_name(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    agent = _played(ARMED, "HierTS")
    agent.save(path)
    link.symlink_to(path)
    assert in_child(lambda: agent.save(link)) == "None"
    for name in (path, str(path), link, tmp_path / "." / "a"):
        with pytest.raises(FileExistsError, match="another has saved it since"):
            agent.save(name)


@pytest.mark.parametrize("content", [b"", b"something else", b"PK\x03\x04" + bytes(100)])
def test_any_other_file_in_its_place_is_noticed_too(content, tmp_path):
    agent = _played(ARMED, "HierTS")
    agent.save(tmp_path / "a")
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FileExistsError, match="another has saved it since"):
        agent.save(tmp_path / "a")


def test_a_new_agent_takes_the_place_of_any_file(tmp_path):
    (tmp_path / "a").write_bytes(b"something else")
    _played(ARMED, "HierTS").save(tmp_path / "a")
    _played(ARMED, "HierTS").save(tmp_path / "a")
    assert len(Agent.load(tmp_path / "a").tasks) == 4


def test_a_saver_that_is_killed_leaves_a_whole_file_and_in_the_end_nothing_else(tmp_path):
    counts = kills(tmp_path, 25)
    assert counts["kills"] > 15
    assert counts["files_left"] == 0


def test_files_that_are_not_as_they_were_saved_are_refused_or_work(tmp_path):
    counts = fuzz(tmp_path, 150, 0)
    assert sum(counts.values()) == 150
    assert counts["damaged_refused"] > 20
    assert counts["edited_refused"] > 50
    assert counts["edited_used"] > 5


@pytest.mark.parametrize("policy", ["HierIDS", "HierTS"])
def test_an_agent_that_is_loaded_with_a_journal_has_the_floor_of_a_new_one(policy, tmp_path):
    path = tmp_path / "agent.hb"
    for own in ({}, {"floor": 0.0}, {"floor": 0.3}, {"draws": 0}):
        Agent(ARMED, policy, seed=0, **own).save(path)
        events = []
        loaded = Agent.load(path, journal=events.append)
        new = Agent(ARMED, policy, seed=0, journal=events.append, **own)
        assert (loaded._decider.floor, loaded._decider.draws) == (
            new._decider.floor,
            new._decider.draws,
        )
    assert Agent.load(path)._decider.floor == 0.0
