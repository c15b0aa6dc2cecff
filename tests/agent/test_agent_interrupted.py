"""Interrupts at any place of any call: the call has happened, or it has not."""

import itertools
import signal
from functools import partial

import numpy as np
import pytest
from support.agent_lives import (
    EVERY_PRIOR,
    FAMILY_PRIORS,
    GRID_PRIORS,
    as_reward,
    first_arms,
    new_agent,
    task_of,
)
from support.agents import state
from support.interrupted_lives import (
    by_error,
    by_signal,
    in_peace,
    interrupted_life,
    interrupted_looks,
)
from support.interrupts import Alarm, interrupted, num_places

from hierbandits import POLICIES, Agent, TaskSums
from hierbandits.agent.agent_lock import depth
from hierbandits.agent.journal import events_of

ADAPTIVE = "AdaptiveHierTS"
EVERYWHERE = {("armed", call) for call in ("reward", "rewards", "learn", "decide", "correct")}
EVERYWHERE |= {("linear", "reward"), ("linear", "decide")}
MOST_PLACES = 12  # of a call that are tried here; `make soak` tries more


def _ready(form, policy, journal=None):
    """An agent with decisions of every kind: pending, settled, with a default and grossly wrong."""
    agent = new_agent(form, policy, journal=journal)
    clock = agent._books.clock
    for number in range(6):
        agent.decide(task_of(form, number % 3), id=f"d{number}")
        clock.now += 1.0
    value = partial(as_reward, agent.prior)
    agent.reward_many(["d0", "d1"], [value(0.5), value(1e6)])
    agent.expire(4.5, default=value(0.1))  # which is d2's from now on
    agent.decide_many([task_of(form, 0), task_of(form, 4)], ids=["e0", "e1"])
    agent.decide(task_of(form, 1), id="e2")
    return agent


def _calls(form):
    task, new = task_of(form, 0), task_of(form, 7)
    value = partial(as_reward, EVERY_PRIOR[form])
    features = first_arms(form)[:2]
    calls = {
        "decide": lambda agent: agent.decide(task, id="x"),
        "a new task": lambda agent: agent.decide(new, id="x"),
        "round": lambda agent: agent.decide_many([new, task, task_of(form, 9)], ids=list("xyz")),
        "best": lambda agent: agent.decide(task, id="x", best=True),
        "reward": lambda agent: agent.reward("d3", value(1.5)),
        "instead of a default": lambda agent: agent.reward("d2", value(1.5)),
        "rewards": lambda agent: agent.reward_many(
            ["e0", "d2", "d4"], [*map(value, (1.5, -1.0, 0.2))]
        ),
        "correct": lambda agent: agent.correct("d0", value(0.7 if value(0.5) < 1 else 0.0)),
        "a gross error": lambda agent: agent.correct("d1", value(0.7) - (value(1e6) == 1)),
        "expire": lambda agent: agent.expire(1.0),
        "default": lambda agent: agent.expire(0.0, default=value(0.4)),
        "learn": lambda agent: agent.learn([new, task], features, [value(0.3), value(0.0)]),
        "forget": lambda agent: agent.forget(task),
        "read": lambda agent: agent.table(),
    }
    if form not in ("deep", "linear", "poisson"):
        calls["add arm"] = lambda agent: agent.add_arm("new", hyper_mean=0.2)
        calls["retire arm"] = lambda agent: agent.retire_arm("a")
    return calls


def _some(total):
    """Some places of a call, and all of the last ones, where most of it has happened."""
    last = max(total - 12, 0)
    return [*range(0, last, 1 + last // MOST_PLACES), *range(last, total)]


CASES = [
    (form, policy, call)
    for form, policy in (("armed", "HierTS-forced"), ("linear", "HierTS"), ("deep", "HierIDS"),
                         ("correlated", "HierRandUCB"), ("common", "HierTS"),
                         ("bernoulli", "HierTS"), ("poisson", "HierIDS"))
    for call in _calls(form)
]  # fmt: skip


@pytest.mark.parametrize(("form", "policy", "call"), CASES)
def test_an_interrupted_call_has_happened_or_not(form, policy, call):
    action = _calls(form)[call]
    before, after = _ready(form, policy), _ready(form, policy)
    action(after)
    before, after = state(before), state(after)
    counted = _ready(form, policy)
    total = num_places(lambda: action(counted))
    errors = itertools.cycle((KeyboardInterrupt, MemoryError))
    seen = set()
    for place in range(total) if (form, call) in EVERYWHERE else _some(total):
        agent = _ready(form, policy)
        assert interrupted(lambda: action(agent), next(errors), place)  # noqa: B023
        assert depth(agent._lock) == 0
        now = state(agent)
        assert now in (before, after), place
        seen.add(now == after)
        if now != after:
            action(agent)
            assert state(agent) == after
    assert call == "read" or seen == {True, False}


@pytest.mark.parametrize("form", ["armed", "linear"])
def test_the_sums_of_a_log_are_learned_wholly_or_not(form):
    def learn(agent):
        agent.learn_past([task_of(form, 1), task_of(form, 5)], sums)

    def ready():
        agent = new_agent(form, "HierTS-forced")
        agent.decide(task_of(form, 0), id="d")
        return agent

    agent = new_agent(form, "HierTS")
    sums = TaskSums.zeros(2, agent.prior.dim, armed=agent.prior.is_armed)
    sums.add([0, 1], [0, 1] if sums.is_armed else np.eye(2), [1.0, 0.5])
    before, after = state(ready()), ready()
    learn(after)
    after, counted = state(after), ready()
    for place in _some(num_places(lambda: learn(counted))):
        agent = ready()
        assert interrupted(lambda: learn(agent), KeyboardInterrupt, place)  # noqa: B023
        if state(agent) == before:
            learn(agent)
        assert state(agent) == after


@pytest.mark.parametrize(
    "policy",  # but for one whose looks begin anew: see below
    [name for name, recipe in POLICIES.items() if not recipe.knows_truth and name != ADAPTIVE],
)
@pytest.mark.parametrize("journal", [True, False])
def test_a_life_of_interrupts_is_that_of_one_left_in_peace(policy, journal):
    for form in ("armed", "linear"):
        interrupted_life(form, policy, 0, 20, journal=journal, interrupt=in_peace)
        assert interrupted_life(form, policy, 0, 20, journal=journal) > 10


@pytest.mark.parametrize("interrupt", [by_error, by_signal])
@pytest.mark.parametrize("form", ["armed", "linear", "common"])
def test_an_agent_that_learns_its_widths_works_on(form, interrupt):
    interrupted_looks(form, 0, 100, in_peace)
    assert interrupted_looks(form, 0, 100, interrupt) > 30


@pytest.mark.parametrize("form", [*FAMILY_PRIORS, *GRID_PRIORS])
def test_a_family_of_rewards_changes_nothing_of_that(form):
    interrupted_life(form, "HierTS", 0, 60, journal=True, interrupt=in_peace)
    assert interrupted_life(form, "HierTS", 0, 60, journal=True) > 30


@pytest.mark.parametrize("form", ["armed", "linear", "correlated", *FAMILY_PRIORS, "beta"])
def test_real_signals_interrupt_calls_too(form):
    interrupted_life(form, "HierTS", 0, 60, journal=False, interrupt=in_peace)
    assert interrupted_life(form, "HierTS", 0, 60, journal=False, interrupt=by_signal) > 5


def test_a_journal_file_and_its_agent_agree_after_every_interrupt(tmp_path):
    path, rng, number = tmp_path / "journal", np.random.default_rng(0), 0
    interrupted_life("armed", "HierTS", 0, 60, journal=True, interrupt=in_peace)
    agent = new_agent("armed", "HierTS", journal=path)
    agent.decide("t", id="first")
    for event in range(60):
        id = f"d{event}"
        number += by_error(rng, lambda: agent.decide("t", id=id))  # noqa: B023
        if event % 2:
            agent.reward_many([made.id for made in agent.pending], [0.5] * len(agent.pending))
        agent.tasks  # noqa: B018  # finishes what was interrupted
        assert [event["number"] for event in events_of(path)] == list(
            range(agent._state.num_events)
        )
    assert number > 20
    again = Agent.replay(path, agent.prior, "HierTS", arms=first_arms("armed"))
    assert state(again)[:-1] == state(agent)[:-1]


@pytest.mark.parametrize("use", [Agent.__repr__, lambda agent: agent.decide("s")])
def test_the_handler_of_a_signal_cannot_use_an_agent_in_the_middle_of_a_change(use):
    """It would see half of it, or do it twice."""
    agent, refused = new_agent("armed", "HierTS"), []
    agent.decide("t", id="d")
    belief, before = agent.belief, state(agent)
    observe = belief._raw_observe_one

    def signalled(*event):
        observe(*event)
        signal.raise_signal(signal.SIGUSR1)

    def handle(*_):
        try:
            use(agent)
        except RuntimeError as error:
            refused.append(str(error))
            raise Alarm from error

    signal.signal(signal.SIGUSR1, handle)
    belief._raw_observe_one = signalled
    with pytest.raises(Alarm):
        agent.reward("d", 1.0)
    del belief._raw_observe_one
    assert "in the middle of one of its own calls" in refused[0]
    assert agent.reward("d", 1.0) is False  # it was learned, once
    twin = new_agent("armed", "HierTS")
    twin.decide("t", id="d")
    assert state(twin) == before
    twin.reward("d", 1.0)
    assert state(agent) == state(twin)
