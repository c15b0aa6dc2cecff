"""A batch of rewards: each is learned once, and what is not learned is counted."""

import numpy as np
import polars as pl
import pytest
from support.agents import ARMED
from support.batch_kills import counts_of

from hierbandits import Agent, RewardConflict, UnknownDecision
from hierbandits.agent import RewardedBatch, decide_batch, reward_batch


@pytest.fixture
def agent(tmp_path):
    Agent(ARMED, seed=0).save(tmp_path / "agent.hb")
    decide_batch(tmp_path / "agent.hb", pl.DataFrame({"task": list("abcd")}), tmp_path / "d.csv")
    return tmp_path / "agent.hb"


def _ids(agent):
    return [decision.id for decision in Agent.load(agent).pending]


def _rewards(ids, values):
    return pl.DataFrame(
        {"decision": ids, "reward": values}, schema_overrides={"reward": pl.Float64}
    )


def test_rewards_are_learned_as_the_agent_learns_them(agent):
    twin, ids = Agent.load(agent), _ids(agent)
    batch = reward_batch(agent, _rewards(ids, [1.0, 2.0, None, 0.5]))
    assert batch == RewardedBatch(rows=4, learned=3, missing=1, pending=1)
    twin.reward_many([ids[0], ids[1], ids[3]], [1.0, 2.0, 0.5])
    loaded = Agent.load(agent)
    assert loaded.table() == twin.table()
    assert [decision.id for decision in loaded.pending] == [ids[2]]


def test_the_same_file_twice_changes_nothing(agent):
    rewards = _rewards(_ids(agent), [1.0, 2.0, 3.0, 4.0])
    reward_batch(agent, rewards)
    saved = agent.read_bytes()
    assert reward_batch(agent, rewards) == RewardedBatch(rows=4, repeated=4)
    assert agent.read_bytes() == saved


def test_a_file_that_grows_teaches_what_is_new(agent):
    ids = _ids(agent)
    reward_batch(agent, _rewards(ids[:2], [1.0, 2.0]))
    twice = _rewards([*ids[:3], ids[2]], [1.0, 2.0, 3.0, 3.0])
    batch = reward_batch(agent, twice)
    assert batch == RewardedBatch(rows=4, learned=1, repeated=3, pending=1)


@pytest.mark.parametrize("first", [True, False])
def test_a_second_value_refuses_the_whole_file(agent, first):
    ids = _ids(agent)
    if first:
        reward_batch(agent, _rewards(ids[:1], [5.0]))
    saved = agent.read_bytes()
    rows = _rewards(
        [ids[1], ids[0]] if first else [ids[1], ids[0], ids[1]],
        [1.0, 2.0, 3.0][: 2 if first else 3],
    )
    with pytest.raises(RewardConflict, match="has the reward"):
        reward_batch(agent, rows)
    assert agent.read_bytes() == saved


def test_decisions_of_nobody_are_refused_or_skipped(agent):
    ids, saved = _ids(agent), agent.read_bytes()
    rewards = _rewards([ids[0], "strange", "stranger"], [1.0, 2.0, 3.0])
    with pytest.raises(UnknownDecision, match=r"'strange' and 1 more \(1 others are new\)"):
        reward_batch(agent, rewards)
    assert agent.read_bytes() == saved
    batch = reward_batch(agent, rewards, skip_unknown=True)
    assert batch == RewardedBatch(rows=3, learned=1, unknown=2, pending=3)


def test_a_default_waits_for_the_reward_and_is_replaced_by_it(agent):
    ids = _ids(agent)
    batch = reward_batch(agent, _rewards(ids[:1], [1.0]), expire_days=0.0, default=0.0)
    assert batch == RewardedBatch(rows=1, learned=1, expired=3)
    late = reward_batch(agent, _rewards(ids[1:2], [2.0]))
    assert late == RewardedBatch(rows=1, learned=1, replaced=1)
    twin = Agent(ARMED, seed=0)
    for decision, value in zip(twin.decide_many(list("abcd")), [1.0, 2.0, 0.0, 0.0], strict=True):
        twin.reward(decision.id, value)
    loaded = Agent.load(agent)
    np.testing.assert_allclose(loaded.table()["mean"], twin.table()["mean"], atol=1e-12)


def test_expired_decisions_are_told_from_strange_ones(agent):
    ids = _ids(agent)
    young = reward_batch(agent, _rewards(ids[:1], [1.0]), expire_days=1.0)
    assert (young.expired, young.pending) == (0, 3)
    reward_batch(agent, _rewards(ids[:1], [1.0]), expire_days=0.0)
    saved = agent.read_bytes()
    late = reward_batch(agent, _rewards(ids[1:3], [1.0, 2.0]))
    assert late == RewardedBatch(rows=2, forgotten=2)
    assert agent.read_bytes() == saved


def test_columns_have_other_names_and_cells_are_text(agent, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("id,sales\n" + "".join(f"{id},{i}\n" for i, id in enumerate(_ids(agent))))
    batch = reward_batch(agent, path, decision="id", reward="sales")
    assert (batch.learned, batch.pending) == (4, 0)


def test_what_is_wrong_is_named(agent):
    ids, saved = _ids(agent), agent.read_bytes()
    wrong = pl.DataFrame({"decision": ids[:2], "reward": ["1", "x"]})
    for rewards, named, message in (
        (wrong, {}, "reward must be a number"),
        (_rewards([ids[0], None], [None, 1.0]), {}, "decision must not be missing.* row 1"),
        (_rewards(ids, [1.0] * 4), {"reward": "sales"}, "reward must be one of the columns"),
        (_rewards(ids, [1.0] * 4), {"default": 1.0}, "default must come with expire_days"),
        (_rewards(ids, [1.0] * 4), {"expire_days": -1.0}, "older_than must"),
    ):
        with pytest.raises(ValueError, match=message):
            reward_batch(agent, rewards, **named)
    assert agent.read_bytes() == saved


def test_a_killed_learner_has_learned_once_in_the_end(tmp_path):
    counts = counts_of("reward", tmp_path, 8)
    assert counts["kills"] >= 5
    assert 0 < counts["saved"] < 8  # killed before the save, and after it
