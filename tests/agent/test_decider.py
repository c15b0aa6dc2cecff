"""Decisions of a round: random numbers, propensities, and what is offered."""

from threading import RLock

import numpy as np
import pytest
from support.agent_lives import UNEVEN, every_policy, forms, live, new_agent, task_of
from support.agents import Clock, state

from hierbandits import Agent
from hierbandits.agent.agent_state import AgentState
from hierbandits.agent.bookkeeper import Bookkeeper
from hierbandits.agent.decider import FLOOR, Decider
from hierbandits.agent.journal import Journal
from hierbandits.policies.policy import DRAWS
from hierbandits.policies.recipes import POLICIES


def _decider(policy, journal=None, **options):
    books = Bookkeeper(AgentState(UNEVEN, POLICIES[policy], None, None), journal, Clock(), RLock())
    return Decider(books, 0, **({"draws": None, "floor": 0.0} | options))


@every_policy
def test_a_floor_is_on_where_a_log_would_miss_arms(policy):
    """With a journal or with draws, for rules that leave arms out, unless it is given."""
    journal = Journal(lambda event: None)
    leaves_out = getattr(POLICIES[policy].rule, "leaves_arms_out", False)
    assert leaves_out == ("TS" not in policy)
    for options in ({"journal": journal}, {"draws": 7}):
        assert _decider(policy, floor=None, **options).floor == (FLOOR if leaves_out else 0.0)
        assert _decider(policy, floor=0.0, **options).floor == 0.0
        assert _decider(policy, floor=0.3, **options).floor == 0.3
    off = _decider(policy, journal, floor=None, draws=0)
    assert (off.floor, off.draws) == (0.0, 0)
    assert off.decide(["t"], None, None, None, False)[0].propensity is None
    plain = _decider(policy, floor=None)
    assert (plain.floor, plain.draws) == (0.0, None)
    made = _decider(policy, journal, floor=None).decide(["t"], None, None, None, False)
    assert not leaves_out or made[0].propensity >= FLOOR / UNEVEN.dim


@every_policy
def test_a_journal_turns_propensities_on_where_the_rule_gives_them(policy):
    journal = Journal(lambda event: None)
    decider = _decider(policy, journal)
    gives = decider._books.state.policy.gives_propensities
    assert decider.draws == (DRAWS if gives else None)
    assert _decider(policy).draws is None
    made = decider.decide(["t", "s"], None, None, None, False)
    assert all((decision.propensity is not None) == gives for decision in made)


@every_policy
def test_a_floor_turns_propensities_on(policy):
    decider = _decider(policy, floor=0.1)
    assert (decider.draws, decider.floor) == (DRAWS, 0.1)
    made = decider.decide(["t", "s"], None, None, None, False)
    assert all(decision.propensity >= 0.1 / 3 for decision in made)


@forms
@every_policy
def test_the_best_decisions_of_a_round_are_those_of_single_decisions(form, policy):
    agent, other = new_agent(form, policy), new_agent(form, policy)
    for each in (agent, other):
        live(each, form, np.random.default_rng(0))
    tasks = [task_of(form, number) for number in range(8)]
    together = agent.decide_many(tasks, best=True)
    alone = [other.decide(task, best=True) for task in tasks]
    nodes = [agent.node(task) for task in tasks]
    one, two = (
        agent.belief.predict(nodes, [d.features for d in part]).mean for part in (together, alone)
    )
    np.testing.assert_allclose(one, two, rtol=1e-12)  # ties are broken at random
    assert [member.best for member in agent._state.roster] == [1] * len(agent.tasks)


def test_a_journal_and_its_failures_do_not_change_what_is_decided():
    fails = [False]

    def journal(event):
        if fails[0]:
            raise OSError

    agents = [Agent(UNEVEN, seed=5, draws=10, clock=Clock(), journal=j) for j in (None, journal)]
    for i in range(20):
        fails[0] = True
        before = state(agents[1])
        with pytest.raises(OSError):  # noqa: PT011
            agents[1].decide_many([i, "new"])
        assert state(agents[1]) == before
        fails[0] = False
        one, other = (agent.decide(i % 3, id=str(i)) for agent in agents)
        assert tuple(one) == tuple(other)
    assert state(agents[0]) == state(agents[1])


def test_a_loaded_agent_with_a_seed_goes_its_own_way(tmp_path):
    agent = new_agent("armed", "HierTS")
    live(agent, "armed", np.random.default_rng(0), 20)
    agent.save(tmp_path / "agent")

    def choices(**given):
        loaded = Agent.load(tmp_path / "agent", **given)
        return [loaded.decide(f"t{i % 8}").arm for i in range(40)]

    assert choices() == choices()
    assert choices(seed=3) == choices(seed=3)
    assert len({tuple(choices()), tuple(choices(seed=3)), tuple(choices(seed=4))}) == 3
    with pytest.raises(ValueError, match="seed must be a whole number"):
        choices(seed=-1)


@every_policy
def test_advice_leaves_no_trace_but_in_the_random_numbers(policy):
    agent = Agent(UNEVEN, policy, seed=1)
    for i in range(12):
        agent.reward(agent.decide(f"t{i % 3}").id, float(i))
    arms = set(agent.decide("t0").offered)
    before = agent.table(), agent.belief.num_nodes
    advice = agent.advise(["t0", "new", "t0"])
    assert len(advice) == 3
    assert set(advice) <= arms
    assert agent.advise([]) == []
    assert agent.advise(["new"], [1]) == [1]
    assert (agent.table(), agent.belief.num_nodes) == before
    assert agent.tasks == ["t0", "t1", "t2"]
    assert len(agent.pending) == 1
    with pytest.raises(ValueError, match="arms must be arms of this agent"):
        agent.advise(["t0"], [99])
    assert agent.advise(["t0"])[0] in arms  # nothing is left unfinished


def test_advice_explores_as_decisions_do():
    agent = Agent(UNEVEN, "HierTS", seed=1)
    assert len({agent.advise(["t"])[0] for _ in range(200)}) > 1
