"""An account tells the very choice that the policy then makes, whatever the rule and the model."""

import numpy as np
import pytest
from support.agent_lives import EVERY_PRIOR

import hierbandits as hb
from hierbandits.policies.recipes import POLICIES

ARMS = {"a": [1.0, -0.5], "b": [0.3, 0.8], "c": [-0.7, 0.4]}
RULES = [name for name in POLICIES if not POLICIES[name].knows_truth]


def agent_of(kind, rule, **options):
    """An agent that has learned a little; None if the rule cannot believe in the model."""
    prior = EVERY_PRIOR[kind]
    arms = list(ARMS)[: prior.dim] if prior.is_armed else ARMS
    if kind in ("beta", "gamma") and rule in ("TS", "PooledTS", "LinUCB"):
        return None, None
    agent = hb.Agent(prior, rule, arms=arms, seed=3, **options)
    deep = prior.num_levels > 2
    tasks = [(f"g{n % 2}", f"t{n}") if deep else f"t{n}" for n in range(4)]
    for _ in range(3):
        for one in agent.decide_many(tasks):
            agent.reward(one.id, float(one.arm == "a"))
    return agent, tasks


@pytest.mark.parametrize("draws", [0, 6])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", EVERY_PRIOR)
def test_what_is_told_is_what_is_then_done(kind, rule, draws):
    agent, tasks = agent_of(kind, rule, draws=draws, floor=0.3 if draws else None)
    if agent is None:
        return
    for _ in range(4):
        told = agent.account_many([*tasks, ("g9", "new") if isinstance(tasks[0], tuple) else "new"])
        made = agent.decide_many([*tasks, ("g9", "new") if isinstance(tasks[0], tuple) else "new"])
        for (names, account), decision in zip(told, made, strict=True):
            place = account.numbers.tolist().index(account.chosen)
            assert names[place] == decision.arm
            check_scores(account, place)


def check_scores(account, place):
    """Where the rule chose, its scores say why."""
    assert (account.low <= account.mean).all()
    assert (account.mean <= account.high).all()
    if account.by != "rule":
        return
    if account.how == "draws":
        values = account.draws[account.played_draw]
        assert values[place] == values.max() == account.scores["value"][place]
        best = account.draws == account.draws.max(axis=1, keepdims=True)
        np.testing.assert_allclose(account.scores["best in draws"], best.mean(axis=0))
    elif account.how == "mixture":
        assert account.scores["share"][place] > 0
        assert account.scores["share"].sum() == pytest.approx(1.0)
        assert (account.scores["insight"] >= 0).all()
        costs = (account.draws.max(axis=1, keepdims=True) - account.draws).mean(axis=0)
        np.testing.assert_allclose(account.scores["shortfall"], costs, atol=1e-12)
    elif account.how == "bounds":
        assert account.scores["bound"][place] == account.scores["bound"].max()
    else:
        assert account.how == "means"
        assert account.mean[place] == pytest.approx(account.mean.max())


def test_chance_and_the_best_arm_are_said_as_such():
    agent, tasks = agent_of("armed", "HierTS", draws=5, floor=1.0)
    assert {account.by for _, account in agent.account_many(tasks)} == {"floor"}
    told = agent.account_many(tasks, best=True)
    assert {(account.by, account.how) for _, account in told} == {("best", "means")}
    forced, _ = agent_of("armed", "HierTS-forced", draws=5)
    places = [account.by for _, account in forced.account_many(["new one"])]
    assert places in (["forced"], ["rule"])  # the rule may want what it is forced to
    chosen = {account.chosen for _, account in forced.account_many(["new one"])}
    assert chosen == {0}


def test_an_account_changes_nothing():
    agent, tasks = agent_of("armed", "HierTS-forced", draws=5)
    twin, _ = agent_of("armed", "HierTS-forced", draws=5)
    agent.account_many([*tasks, "nobody"])
    assert agent.tasks == twin.tasks
    assert [(one.arm, one.propensity) for one in agent.decide_many(tasks)] == [
        (one.arm, one.propensity) for one in twin.decide_many(tasks)
    ]


def test_luck_makes_the_same_choices_again():
    agent, tasks = agent_of("armed", "HierTS", draws=5)
    luck = agent.begin_luck()
    first = agent.advise(tasks * 5)
    assert agent.advise(tasks * 5) != first or agent.advise(tasks * 5) != first
    assert agent.begin_luck(luck) == luck
    assert agent.advise(tasks * 5) == first
    for wrong in (-1, 2**63, 0.5, True):
        with pytest.raises(ValueError, match="luck must be"):
            agent.begin_luck(wrong)
