"""An agent with an encoder: decisions are given who comes."""

import numpy as np
import polars as pl
import pytest
from support.context_worlds import CONTEXT, NAMES, context_log

import hierbandits as hb
from hierbandits.agent import decide_batch, reward_batch

WHO = {"age": 31, "city": "北京", "vip": True}


def a_start(seed=0):
    """A start that knows a log with contexts, in place of a fit."""
    _, _, log = context_log(seed, count=120, stores=3)
    known = log.sums()
    prior = hb.GaussianHierarchy.linear(log.encoder.dim, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    return hb.Start(prior, known.sums, known.tasks, None, log.encoder)


def an_agent(**more):
    return hb.Agent(a_start(), "HierTS", seed=1, **more)


def test_a_decision_has_the_features_of_its_context(tmp_path):
    agent = an_agent()
    encoder = agent.encoder
    made = [
        agent.decide("Laden 0 ü", context=WHO),  # known: the quick way
        agent.decide("new", context=WHO),
        agent.decide("Laden 0 ü", context=WHO, best=True),
        *agent.decide_many(["Laden 0 ü", "Laden 1 ü"], context=WHO),
        *agent.decide_many(["Laden 0 ü", "Laden 1 ü"], context=[WHO, WHO]),
    ]
    for decision in made:
        place = encoder.arms.index(decision.arm)
        assert decision.offered == encoder.arms
        assert decision.features == tuple(encoder.encode(WHO)[place])
    assert agent.reward_many([decision.id for decision in made], np.ones(len(made)))


def test_the_same_row_has_the_same_features_after_a_file(tmp_path):
    agent, path = an_agent(), tmp_path / "agent.hb"
    agent.decide("Laden 0 ü", context=WHO)
    agent.save(path)
    again = hb.Agent.load(path)
    assert again.encoder == agent.encoder
    np.testing.assert_array_equal(again.encoder.encode(WHO), agent.encoder.encode(WHO))
    for _ in range(5):
        one, other = (each.decide("Laden 2 ü", context=WHO) for each in (agent, again))
        assert (one.arm, one.features) == (other.arm, other.features)
    start = a_start()
    start.save(tmp_path / "start.hb")
    assert hb.Start.load(tmp_path / "start.hb").encoder == start.encoder


def test_some_of_the_arms_may_be_offered():
    agent = an_agent()
    first, last = agent.encoder.arms[0], agent.encoder.arms[2]
    offered = {agent.decide("new", [first, last], context=WHO).arm for _ in range(40)}
    assert offered <= {first, last}
    one = agent.decide_many(["a", "b"], [[first], [last]], context=[WHO, WHO])
    assert [decision.arm for decision in one] == [first, last]
    masked = agent.decide("new", context=WHO, eligible=[False, False, True])
    assert masked.arm == last


@pytest.mark.parametrize(
    ("arms", "context", "message"),
    [
        (None, None, r"context must be given, with \('age', 'city', 'vip'\)"),
        (["none"], None, "context must be given, with"),
        (None, {"age": 31}, "got none for 'city'"),
        (None, WHO | {"income": 3}, "got another, 'income'"),
        (None, WHO | {"age": "old"}, "context must have a number as the value of 'age', got 'old'"),
        (None, WHO | {"age": 1e55}, "arms must be finite and at most"),
        (None, [WHO], "context must be a mapping"),
        (["nothing"], WHO, "arms must be arms of this agent"),
    ],
)
def test_contexts_that_do_not_fit_change_nothing(arms, context, message):
    agent = an_agent()
    with pytest.raises(ValueError, match=message):
        agent.decide_many(["Laden 0 ü", "Laden 1 ü"], arms, context=context)
    if not isinstance(context, list):
        with pytest.raises(ValueError, match=message):
            agent.decide("Laden 0 ü", arms, context=context)
    assert agent.pending == []


def test_other_agents_take_no_context():
    with pytest.raises(ValueError, match="context must not be given to an agent without an enc"):
        hb.Agent(arms=["a", "b"]).decide("s", context=WHO)
    start = a_start()
    with pytest.raises(ValueError, match="arms must not be given with an encoder"):
        hb.Agent(start, arms={"a": np.ones(start.prior.dim)})
    with pytest.raises(ValueError, match="encoder must make the prior's features"):
        hb.Start(hb.GaussianHierarchy.linear(2, hyper_std=1, task_std=1, noise_std=1),
                 encoder=start.encoder)  # fmt: skip
    with pytest.raises(ValueError, match="encoder must be an Encoder, got 3"):
        hb.Start(start.prior, encoder=3)


def test_a_table_and_a_journal_name_features_and_arms():
    events = []
    agent = an_agent(journal=events.append)
    decision = agent.decide("Laden 0 ü", context=WHO)
    agent.reward(decision.id, 0.5)
    assert agent.table()["feature"][: agent.encoder.dim] == list(agent.encoder.coordinates)
    again = hb.Agent.replay(events, a_start(), "HierTS", seed=1)
    assert again.belief.task(again.node("Laden 0 ü")).mean == pytest.approx(
        agent.belief.task(agent.node("Laden 0 ü")).mean
    )
    assert agent.log(by_arm=True).arms == agent.encoder.arms


def test_a_log_is_replayed_by_the_agents_encoder():
    _, frame, log = context_log(5, count=40, stores=3)
    agent = an_agent()
    with pytest.raises(ValueError, match="log must be read with the agent's encoder"):
        hb.Agent.replay(log, a_start(), "HierTS")
    own = hb.Log.read(frame.with_row_index("id"), hb.Columns(**NAMES, decision="id"),
                      encoder=agent.encoder)  # fmt: skip
    taught = hb.Agent.replay(own, a_start(), "HierTS", seed=1)
    x = agent.encoder.encode(frame, frame["promo"].to_list())
    agent.learn(frame["store"].to_list(), x, frame["revenue"].to_numpy())
    for task in agent.tasks:
        one, other = (each.belief.task(each.node(task)) for each in (taught, agent))
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9, atol=1e-12)
    settled = taught.log(by_arm=True).frame()
    assert settled["arm"].to_list() == frame["promo"].to_list()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_batch_reads_the_context_of_each_row(form, tmp_path):
    agent = an_agent(draws=20)
    agent.save(tmp_path / "agent.hb")
    rows = [WHO | {"store": "Laden 0 ü"}, WHO | {"store": "neu", "age": 50, "city": "Ulm"}]
    tasks, out = pl.DataFrame(rows), tmp_path / f"decisions.{form}"
    path = tmp_path / f"tasks.{form}"
    getattr(tasks, f"write_{form}")(path)
    made = decide_batch(tmp_path / "agent.hb", path, out, task="store")
    assert (made.decisions, made.new_tasks) == (2, 1)
    decided = getattr(pl, f"read_{form}")(out)
    assert decided.columns[:4] == tasks.columns
    loaded = hb.Agent.load(tmp_path / "agent.hb")
    for decision, row in zip(loaded.pending, rows, strict=True):
        context = {name: row[name] for name in CONTEXT}
        assert decision.features == tuple(agent.encoder.encode(context, [decision.arm]))
    again = decide_batch(tmp_path / "agent.hb", path, out, task="store")
    assert again.made_before
    with pytest.raises(FileExistsError):  # other contexts are other decisions
        decide_batch(tmp_path / "agent.hb", tasks.with_columns(age=60), out, task="store")
    rewards = decided.with_columns(reward=pl.Series([0.1, 0.2]))
    assert reward_batch(tmp_path / "agent.hb", rewards).learned == 2


def test_a_batch_without_its_context_is_refused(tmp_path):
    an_agent(draws=20).save(tmp_path / "agent.hb")
    out = tmp_path / "d.parquet"
    tasks = pl.DataFrame([WHO | {"store": "a"}, WHO | {"store": "b", "city": None}])
    with pytest.raises(ValueError, match=r"context must not be missing, .* 'city' at row 1"):
        decide_batch(tmp_path / "agent.hb", tasks, out, task="store")
    with pytest.raises(ValueError, match=r"context must be columns of the table, .* got 'age'"):
        decide_batch(tmp_path / "agent.hb", tasks.drop("age"), out, task="store")
    assert not out.exists()
    named = tasks.head(1).with_columns(may=pl.Series([["none"]]))
    made = decide_batch(tmp_path / "agent.hb", named, out, task="store", eligible="may")
    assert made.decisions == 1
    assert pl.read_parquet(out)["arm"].to_list() == ["none"]
