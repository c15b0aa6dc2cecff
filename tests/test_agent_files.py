"""Files of agents and beliefs: resumed bit for bit, and refused if they are not sound."""

import json
import os
import zipfile

import numpy as np
import pytest
from support.agents import ARMED, ARMS, DEEP, LINEAR, Clock, state

from hierbandits import (
    POLICIES,
    Agent,
    Belief,
    GaussianHierarchy,
    Recipe,
)
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
    assert [vars_of(d) for d in loaded.pending] == [vars_of(d) for d in agent.pending]
    rng = np.random.default_rng(1)
    for i in range(30):
        task = ("new", i % 4) if prior is DEEP else i % 6
        one, other = (a.decide(task, id=f"later-{i}") for a in (agent, loaded))
        assert vars_of(one) == vars_of(other)
        value = rng.standard_normal()
        waiting = agent.pending[0].id
        assert agent.reward(waiting, value) is loaded.reward(waiting, value) is True
    assert state(loaded) == state(agent)
    settled = next(iter(agent._ledger.settled))
    assert loaded.reward(settled, agent._ledger.settled[settled][0]) is False


def vars_of(decision):
    features = np.asarray(decision.features).tolist()
    return decision.id, decision.task, decision.arm, features, decision.propensity


def test_loaded_decisions_are_as_fixed_as_they_were(tmp_path):
    agent = _played(LINEAR, "HierTS")
    agent.save(tmp_path / "a")
    with pytest.raises(ValueError, match="read-only"):
        Agent.load(tmp_path / "a").pending[0].features[:] = 0.0


def test_numpy_numbers_are_saved_too(tmp_path):
    agent = Agent(ARMED, seed=0, draws=np.int64(10), floor=np.float32(0.5))
    agent.decide(np.int64(3))
    agent.save(tmp_path / "a")
    assert Agent.load(tmp_path / "a").tasks == [3]


def test_a_belief_of_huge_rewards_is_a_sound_file(tmp_path):
    belief = Belief(LINEAR, 2)
    belief.observe([0], [[1.0, 0.0]], [1e31])
    belief.save(tmp_path / "b")
    np.testing.assert_array_equal(Belief.load(tmp_path / "b").task(0).mean, belief.task(0).mean)


def test_rounding_of_another_machine_is_accepted(tmp_path):
    """The inverse of a correlated covariance has zeros that are rounding noise."""
    cov = 0.9 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    prior = GaussianHierarchy(hyper_mean=np.zeros(6), hyper_cov=cov, task_cov=cov, noise_std=0.5)
    Belief(prior, 2).save(tmp_path / "b")

    def change(meta, arrays):
        noise = np.random.default_rng(0).standard_normal(arrays["precision"].shape)
        arrays["precision"] = arrays["precision"] + 1e-13 * noise

    _rewritten(tmp_path / "b", change)
    assert Belief.load(tmp_path / "b").num_nodes == 3


def test_files_have_the_usual_permissions(tmp_path):
    mask = os.umask(0o027)
    try:
        Belief(ARMED, 1).save(tmp_path / "b")
    finally:
        os.umask(mask)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o640


def test_a_recipe_of_ones_own_is_handed_to_load(tmp_path):
    recipe = Recipe(lambda prior: prior, greedy, "mine")
    agent = Agent(ARMED, recipe, seed=0)
    agent.decide("t")
    agent.save(tmp_path / "a")
    with pytest.raises(ValueError, match="a recipe of its own: give policy"):
        Agent.load(tmp_path / "a")
    assert Agent.load(tmp_path / "a", policy=recipe).tasks == ["t"]
    Agent(ARMED).save(tmp_path / "b")
    with pytest.raises(ValueError, match="HierTS: do not give policy"):
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
    with pytest.raises(ValueError, match="it holds belief version 1"):
        Agent.load(path)
    path.write_bytes(b"")
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="not a sound agent file"):
        Agent.load(path)


def _rewritten(path, change):
    """The archive with its arrays and header changed, checksums made right again."""
    from hierbandits.archive import read_archive, write_archive

    kind = "belief"
    meta, arrays = read_archive(path, kind, 1)
    change(meta, arrays)
    write_archive(path, kind, 1, meta, arrays)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parent", 99, "parent must be in"),
        ("parent", 0, "parent and level do not agree"),
        ("parent", -5, "parent"),
        ("level", 7, "level must be in"),
        ("level", 0, "do not agree"),
        ("mean", np.nan, "mean must be finite"),
        ("factor", np.inf, "factor must be finite"),
        ("precision", 123.0, "precision does not follow"),
        ("count", np.nan, "count must be finite"),
    ],
)
def test_a_belief_that_makes_no_sense_is_refused(name, value, message, tmp_path):
    path = tmp_path / "belief"
    belief = Belief(LINEAR, 3, 2)
    belief.observe([0, 4], np.eye(2), [1.0, 2.0])
    belief.save(path)

    def change(meta, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].flat[0 if name != "level" else 1] = value

    _rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        Belief.load(path)


def test_beliefs_save_and_load_mid_run(tmp_path):
    priors = [LINEAR, LINEAR.with_levels(LINEAR.hyper_mean, [2 * c for c in LINEAR.covs])]
    belief = Belief(priors, 2, 2)
    belief.add(belief.roots[3], 2)
    rng = np.random.default_rng(0)
    tasks, x, y = rng.integers(0, 8, 20), rng.standard_normal((20, 2)), rng.standard_normal(20)
    belief.observe(tasks, x, y)
    belief.save(tmp_path / "b")
    loaded = Belief.load(tmp_path / "b")
    for each in (belief, loaded):
        each.observe(tasks, x, -y)
        each.add(each.roots[0])
    np.testing.assert_array_equal(
        loaded.forest.mean[: loaded.num_nodes], belief.forest.mean[: belief.num_nodes]
    )
    np.testing.assert_array_equal(loaded.log_evidence(), belief.log_evidence())
    one, other = (b.sample(np.random.default_rng(1), [0, 7, 12]) for b in (belief, loaded))
    np.testing.assert_array_equal(one, other)


def test_a_file_holds_json_and_arrays_alone(tmp_path):
    agent = _played(LINEAR, "HierTS")
    agent.save(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        header = json.loads(archive.read("hierbandits.json"))
        assert (header["kind"], header["version"]) == ("agent", 1)
        assert {n for n in archive.namelist() if not n.endswith(".npy")} == {"hierbandits.json"}


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    agent = _played(ARMED, "HierTS")
    path = tmp_path / "a"
    agent.save(path)
    before = path.read_bytes()
    agent._floor = float("nan")  # which JSON cannot hold
    with pytest.raises(ValueError, match="JSON"):
        agent.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
