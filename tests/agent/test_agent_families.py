"""Agents whose rewards are clicks or counts: their whole life."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.agent_lives import live, new_agent
from support.agents import state

import hierbandits as hb
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.refit import FEW_SWEEPS
from hierbandits.beliefs.site_belief import SiteBelief
from hierbandits.models import BernoulliRewards, GaussianRewards

ARMED = hb.GaussianHierarchy.armed(
    arms=["a", "b", "c"], hyper_mean=[-1.0, -0.5, 0.2], hyper_std=1.0, task_std=0.5, noise_std=1.0
)
LINEAR = hb.GaussianHierarchy.linear(
    2, hyper_mean=[-1.0, 0.3], hyper_std=[1.0, 0.6], task_std=0.5, noise_std=1.0
)
TABLE = {"u": [1.0, 0.0], "v": [1.0, 1.0], "w": [0.3, 1.0]}
both = pytest.mark.parametrize(("prior", "arms"), [(ARMED, None), (LINEAR, TABLE)])


def _life(agent, number=60, tasks=4):
    """Decisions and clicks; the ids of the decisions."""
    rng, ids = np.random.default_rng(5), []
    for i in range(number):
        decision = agent.decide(f"t{i % tasks}")
        agent.reward(decision.id, float(rng.random() < 0.3))
        ids.append(decision.id)
    return ids


def _agent(prior, arms, **options):
    return hb.Agent(prior, rewards="bernoulli", arms=arms, seed=0, clock=lambda: 1.0, **options)


@both
def test_a_wrong_reward_is_refused_by_name_and_changes_nothing(prior, arms):
    agent = _agent(prior, arms)
    _life(agent, 5)
    decision, before = agent.decide("t0"), agent.belief.state()[1]["state"].tobytes()
    for value in (2.0, -1.0, 0.5):
        with pytest.raises(ValueError, match=f"value must be 0 or 1, got {value:g}"):
            agent.reward(decision.id, value)
        with pytest.raises(ValueError, match=r"values? must be 0 or 1"):
            agent.reward_many([decision.id], [value])
        with pytest.raises(ValueError, match="rewards must be 0 or 1"):
            agent.learn(["t1"], ["a"] if arms is None else [TABLE["u"]], [value])
        with pytest.raises(ValueError, match="default must be 0 or 1"):
            agent.expire(0.0, default=value)
    assert agent.belief.state()[1]["state"].tobytes() == before
    assert agent.reward(decision.id, 1.0)
    with pytest.raises(ValueError, match="value must be 0 or 1"):
        agent.correct(decision.id, 3.0)


@both
def test_it_is_saved_and_goes_on_bit_for_bit(prior, arms, tmp_path):
    agent = _agent(prior, arms, draws=10)
    _life(agent)
    agent.save(tmp_path / "agent")
    loaded = hb.Agent.load(tmp_path / "agent", clock=lambda: 1.0)
    assert loaded.prior.rewards == BernoulliRewards()
    for one in (agent, loaded):
        _life(one, 40)
    for name, array in agent.belief.state()[1].items():
        assert array.tobytes() == loaded.belief.state()[1][name].tobytes()


@both
def test_a_file_of_another_family_is_refused(prior, arms, tmp_path):
    from hierbandits.archive import read_archive, write_archive

    agent = _agent(prior, arms)
    _life(agent, 5)
    agent.save(tmp_path / "agent")
    meta, arrays = read_archive(tmp_path / "agent", "agent", 2)
    meta["belief"]["rewards"] = {"name": "poisson"}
    write_archive(tmp_path / "agent", "agent", 2, meta, arrays)
    with pytest.raises(ValueError, match="BernoulliRewards"):
        hb.Agent.load(tmp_path / "agent")


@both
def test_it_refits_as_rewards_grow(prior, arms):
    agent = _agent(prior, arms)
    _life(agent, 19)
    assert agent.belief.due == 20
    _life(agent, 1)
    assert agent.belief.due == 21
    converged = agent.belief.copy()
    converged.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(agent.belief.hyper().mean, converged.hyper().mean, atol=1e-3)
    assert agent.belief.last_refit.sweeps > 1
    _life(agent, 1)
    assert agent.belief.last_refit.sweeps <= FEW_SWEEPS  # little is new
    assert agent.belief.due == pytest.approx(22.05)


@both
def test_it_refits_until_all_is_settled_where_much_is_new(prior, arms):
    agent = _agent(prior, arms)
    _life(agent, 20)
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, 10) if arms is None else rng.normal(size=(10, prior.dim))
    agent.learn(["t1"] * 10, x, np.zeros(10))
    assert agent.belief.last_refit.sweeps > 1
    assert agent.belief.last_refit.is_converged


@both
def test_late_clicks_replace_their_default(prior, arms):
    """As if the click had been known at once; and agents themselves are near to that."""
    late, prompt = _agent(prior, arms), _agent(prior, arms)
    for agent in (late, prompt):
        _life(agent, 30)
    made = [agent.decide("t1", None if arms is None else arms) for agent in (late, prompt)]
    late._books.clock = lambda: 9.0
    assert late.expire(5.0, default=0.0) == [made[0].id]
    assert late.reward(made[0].id, 1.0)
    prompt.reward(made[1].id, 1.0)
    _check_near_its_refit(late)
    for agent in (late, prompt):
        agent.belief.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(late.belief.hyper().mean, prompt.belief.hyper().mean, rtol=1e-6)
    assert_allclose(late.belief.hyper().cov, prompt.belief.hyper().cov, rtol=1e-6)


def _check_near_its_refit(agent, share=0.1, width=0.05):
    """All means within a share of a standard deviation, all widths within a share of theirs."""
    belief, refitted = agent.belief, agent.belief.copy()
    MatchedBelief.refit(refitted, sweeps=200, tolerance=1e-7)  # under the widths of now
    for node in {*(agent.node(task) for task in agent.tasks), int(belief.roots[0])}:
        own, its = belief.task(node), refitted.task(node)
        assert np.abs((own.mean - its.mean) / its.std).max() < share
        assert np.abs(own.std / its.std - 1).max() < width


ONE_ARM = hb.GaussianHierarchy.armed(1, hyper_std=2.0, task_std=0.5, noise_std=1.0)
ONE_FEATURE = hb.GaussianHierarchy.linear(1, hyper_std=2.0, task_std=0.5, noise_std=1.0)
ONES = pytest.mark.parametrize(
    ("prior", "arms"), [(ONE_ARM, None), (ONE_FEATURE, {"x": [1.0]}), (None, {"x": [1.0]})]
)


@ONES
@pytest.mark.parametrize("at_once", [True, False])
def test_a_night_of_late_clicks_is_learned_at_once(prior, arms, at_once):
    """29 clicks among 200 defaults: an agent that matched each alone believed in 79 %, not 15."""
    agent = _agent(prior, arms)
    ids = [agent.decide(i % 10).id for i in range(200)]
    agent._books.clock = lambda: 100.0
    agent.expire(10.0, default=0.0)
    late = ids[3::7]
    if at_once:
        agent.reward_many(late, np.ones(len(late)))
    else:
        for id in late[:-4]:
            agent.reward(id, 1.0)
    for id in late[-4:]:
        agent.correct(id, 1.0) if not at_once else None
    _check_near_its_refit(agent)
    assert agent.belief._told_rows.news is None
    assert (
        0.1 < agent.belief.mean_reward([agent.node(0)], [0] if arms is None else [[1.0]]).mean < 0.2
    )


@pytest.mark.parametrize("std", [2.0, 5.0])
@pytest.mark.parametrize("form", ["arm", "feature"])
def test_a_click_after_many_zeros_is_a_surprise(form, std):
    """All rewards are matched again: the agent that did not was off by 64 % of a width."""
    make = hb.GaussianHierarchy.armed if form == "arm" else hb.GaussianHierarchy.linear
    prior = make(1, hyper_std=std, task_std=0.5, noise_std=1.0)
    agent = _agent(prior, None if form == "arm" else {"x": [1.0]})
    for i in range(300):
        agent.reward(agent.decide(i % 20).id, 0.0)
    for i in range(4):
        agent.reward(agent.decide(i).id, 1.0 if i == 0 else 0.0)
        _check_near_its_refit(agent)


def test_surprises_cost_no_more_than_they_may(monkeypatch):
    """However many there are, and however many rows: a bounded number for each reward."""
    monkeypatch.setattr("hierbandits.beliefs.refit.ROWS_EACH", 5)
    agent = _agent(LINEAR, TABLE)
    rng = np.random.default_rng(1)
    agent.learn(["t"] * 400, rng.normal(size=(400, 2)), np.zeros(400))
    matched, match = [], SiteBelief._match_sites

    def counted(belief, nodes, *rest, **options):
        matched.append(len(nodes))
        return match(belief, nodes, *rest, **options)

    monkeypatch.setattr(SiteBelief, "_match_sites", counted)
    for i in range(20):  # none of which is many times as many rewards
        agent.reward(agent.decide(f"new {i}").id, 1.0)
    assert sum(matched) < 20 * (5 * FEW_SWEEPS + 60)


SETTLING = pytest.mark.parametrize(("prior", "arms"), [(LINEAR, TABLE), (None, TABLE)])


@SETTLING
@pytest.mark.parametrize("way", ["reward", "reward_many", "correct"])
def test_a_late_click_of_a_settled_default_is_learned(prior, arms, way, monkeypatch):
    """Its row is gone; before, the agent died of it, and so did all that replayed its journal."""
    monkeypatch.setattr("hierbandits.beliefs.site_rows.MOST_ROWS", 60)
    events, options = [], {"rewards": "bernoulli", "arms": arms, "seed": 0}
    agent = hb.Agent(prior, journal=events.append, clock=lambda: 1.0, **options)
    late = agent.decide("t0")
    agent._books.clock = lambda: 9.0
    agent.expire(5.0, default=0.0)
    rng = np.random.default_rng(0)
    for i in range(6):
        agent.learn([f"t{i % 3}"] * 20, rng.normal(size=(20, 2)), (rng.random(20) < 0.3) * 1.0)
    node, x = agent.node("t0"), np.array(TABLE[late.arm])
    assert agent.belief._told_rows.number_of(node, x, 0.0) == 0
    before = agent.belief.mean_reward([node], [x]).mean[0]
    if way == "reward_many":
        assert agent.reward_many([late.id], [1.0]) == [True]
    else:
        getattr(agent, way)(late.id, 1.0)
    assert agent.belief.mean_reward([node], [x]).mean[0] > before
    agent.reward(agent.decide("t0").id, 0.0)
    again = hb.Agent.replay(events, prior, **options)
    assert_allclose(again.belief.hyper().mean, agent.belief.hyper().mean, rtol=1e-12)


@both
def test_a_forgotten_task_was_never_met(prior, arms):
    agent, other = _agent(prior, arms), _agent(prior, arms)
    ids = _life(agent)
    kept = [entry for id, entry in agent._state.ledger.settled.items() if id in ids]
    kept = [entry for entry in kept if entry.member.task != "t3"]
    agent.forget("t3")
    features = [entry.row for entry in kept]
    if arms is None:
        features = [ARMED.arms[row] for row in features]
    other.learn([entry.member.task for entry in kept], features, [e.reward for e in kept])
    for one in (agent, other):
        one.belief.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(agent.belief.hyper().mean, other.belief.hyper().mean, rtol=1e-6)
    assert agent.belief.num_rewards == other.belief.num_rewards == [45]


def test_an_arm_may_come_later():
    agent = _agent(ARMED, None)
    _life(agent)
    agent.belief.refit()
    before = agent.belief.hyper().mean
    agent.add_arm("d")
    assert agent.prior.dim == 4
    assert agent.prior.rewards == BernoulliRewards()
    assert_allclose(agent.belief.hyper().mean[:3], before, atol=2e-3)
    _life(agent, 10)


@both
def test_a_journal_and_a_log_rebuild_it(prior, arms):
    events = []
    agent = _agent(prior, arms, journal=events.append)
    _life(agent)
    again = hb.Agent.replay(events, prior, rewards="bernoulli", arms=arms, seed=0)
    assert_allclose(again.belief.hyper().mean, agent.belief.hyper().mean, rtol=1e-12)
    taught = hb.Agent.replay(agent.log(), prior, rewards="bernoulli", arms=arms)
    for one in (agent, taught):
        one.belief.refit(sweeps=100, tolerance=1e-9)
    assert_allclose(taught.belief.hyper().mean, agent.belief.hyper().mean, rtol=1e-6)


def test_the_table_shows_probabilities_of_arms():
    agent = _agent(ARMED, None)
    _life(agent)
    table = agent.table()
    for low, mean, high in zip(table["low"], table["mean"], table["high"], strict=True):
        assert 0 < low < mean < high < 1


def test_the_family_is_the_priors_or_the_agents():
    model = hb.GeneralizedHierarchy(ARMED, "poisson")
    assert hb.Agent(model).prior is not None
    assert hb.Agent(model, rewards="poisson").belief.family.NAME == "poisson"
    assert isinstance(hb.Agent(ARMED, rewards="gaussian").prior, hb.GaussianHierarchy)
    assert hb.Agent(ARMED, rewards=GaussianRewards(0.3)).belief.family.noise_std == 0.3
    with pytest.raises(ValueError, match="rewards must be those of the prior, PoissonRewards"):
        hb.Agent(model, rewards="bernoulli")
    with pytest.raises(ValueError, match="rewards must be one of gaussian, bernoulli"):
        hb.Agent(ARMED, rewards="clicks")
    assert hb.Agent(arms=["a", "b"], rewards="bernoulli").belief.family.NAME == "bernoulli"
    for family in ("gaussian", "bernoulli"):
        with pytest.raises(
            ValueError, match=f"rewards must be those of the prior.*{family.title()}"
        ):
            hb.Agent(model, rewards=family)
    assert hb.Agent(arms=["a", "b"], rewards="bernoulli").belief.family.NAME == "bernoulli"


@pytest.mark.parametrize("name", [name for name in hb.POLICIES if name != "OracleTS"])
@both
def test_every_policy_decides(name, prior, arms):
    agent = _agent(prior, arms, policy=name)
    _life(agent, 25)
    assert agent.belief.num_rewards == [25]


def test_a_task_whose_rewards_cannot_be_told_from_others_is_not_forgotten():
    agent = new_agent("poisson", "PooledTS")
    live(agent, "poisson", np.random.default_rng(0))
    before = state(agent)
    with pytest.raises(ValueError, match="task must not share its node with others to be forgot"):
        agent.forget("t1")
    assert state(agent) == before
    one = new_agent("bernoulli", "PooledTS")
    live(one, "bernoulli", np.random.default_rng(0))
    one.forget("t1")
    assert "t1" not in one.tasks


@both
def test_the_tasks_of_new_rewards_are_settled_at_once(prior, arms):
    """Between refits too: a surprise changes what the task's other rewards tell."""
    agent = _agent(prior, arms)
    _life(agent, 64)
    assert agent.belief.due > 65
    x = ["a"] if arms is None else [TABLE["u"]]
    once = agent.belief.copy()
    agent.learn(["t1"], x, [1.0])
    node = agent.node("t1")
    once.observe([node], [0] if arms is None else x, [1.0])
    converged = once.copy()
    converged.refit(sweeps=100, tolerance=1e-9)
    known = [belief.task(node).std for belief in (once, agent.belief, converged)]
    assert np.abs(known[1] - known[2]).max() < 0.5 * np.abs(known[0] - known[2]).max()
    assert agent.belief._told_rows.news is None


def test_rewards_that_cannot_be_are_told_what_to_do():
    for family, message in (
        ("bernoulli", "value must be 0 or 1, got 2$"),
        ("binomial", "value must be numbers of succ.*an agent and a log hold single .* got 2$"),
    ):
        agent = hb.Agent(arms=["a", "b"], rewards=family, seed=0)
        decisions = [agent.decide("s"), agent.decide("s")]
        with pytest.raises(ValueError, match=message):
            agent.reward(decisions[0].id, 2.0)
        with pytest.raises(ValueError, match=r"values must be .* got 2 at \[1\]"):
            agent.reward_many([each.id for each in decisions], [1.0, 2.0])
