"""What every belief says of rewards that are to be replaced: before anything is written."""

import numpy as np
import pytest
from support.agent_lives import EVERY_PRIOR, first_arms, live, new_agent, task_of
from support.agents import Clock, state
from support.posterior_ranks import DIM, SUBJECTS, TASKS
from support.states import belief_state

import hierbandits as hb

EVENTS = 40
KINDS = [*SUBJECTS, "GridBelief, beta", "GridBelief, gamma"]


def _learned(name):
    """A belief of three tasks, two of which have had rewards; its events, all of exposure 1."""
    rng, grid = np.random.default_rng(4), name.startswith("GridBelief")
    if grid:
        kind = {"beta": hb.BetaHierarchy, "gamma": hb.GammaHierarchy}[name.split(", ")[1]]
        belief, armed = hb.GridBelief(kind(DIM, resolution=12), TASKS), True
    else:
        belief, armed = SUBJECTS[name].make(1), SUBJECTS[name].armed
    tasks = rng.integers(0, TASKS - 1, EVENTS)
    x = rng.integers(0, DIM, EVENTS) if armed else rng.normal(size=(EVENTS, DIM))
    rewards = rng.integers(0, 2, EVENTS).astype(float)
    belief.observe(tasks, x, rewards)
    return belief, tasks, x, rewards


def _event(learned, place, old, new, task=None):
    _, tasks, x, _ = learned
    return int(tasks[place]) if task is None else task, x[place], old, new


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("case", ["right", "wrong", "another task", "too often", "not a reward"])
def test_what_a_belief_does_not_refuse_it_learns(name, case):
    learned = _learned(name)
    belief, tasks, x, rewards = learned
    zeros = np.flatnonzero(rewards == 0)
    first = int(zeros[0])
    all_of_it = (tasks == tasks[first]) & (x == x[first]).reshape(EVENTS, -1).all(1)
    again = int((all_of_it & (rewards == 0)).sum())
    events = {
        "right": [_event(learned, int(place), 0.0, 1.0) for place in zeros],
        "wrong": [_event(learned, first, 1.0, 0.0)] * EVENTS,
        "another task": [_event(learned, first, 0.0, 1.0, task=TASKS - 1)],
        "too often": [_event(learned, first, 0.0, 1.0)] * (again + EVENTS),
        "not a reward": [_event(learned, first, 0.5, 1.0)],
    }[case]
    before = belief_state(belief)
    try:
        belief._raw_check_revisions(events)
    except ValueError:
        assert case != "right"
        assert belief_state(belief) == before
        return
    exact = belief.IS_GAUSSIAN or "gaussian" in name
    assert case in ("right", "too often") or exact  # sums say nothing of single rewards
    for event in events:
        belief.revise(*event)
    belief._raw_settle()
    assert np.isfinite(belief.task(0).mean).all()


def _prior(form):
    return None if form == "clicks" else EVERY_PRIOR[form]


def _new_agent(form, **options):
    if form != "clicks":
        return new_agent(form, "HierTS", **options)
    own = {"policy": "HierTS", "seed": 0, "clock": Clock()} | options
    return hb.Agent(arms={"u": [1.0, 0.0], "v": [0.3, 1.0]}, rewards="bernoulli", **own)


@pytest.mark.parametrize("form", [*EVERY_PRIOR, "clicks"])
def test_an_agent_lives_on_after_a_correction_that_cannot_be(form):
    """It is refused before it is written, so that a journal tells no more than has happened."""
    events, family = [], form in ("bernoulli", "poisson", "beta", "gamma", "clicks")
    agent = _new_agent(form, journal=events.append, remember=3)
    own = "bernoulli" if form == "clicks" else form
    task = task_of(form, 0)
    made = [agent.decide(task, id=f"w{place}") for place in range(12)]
    for decision in made:
        agent.reward(decision.id, 0.0)
    if form != "clicks":
        live(agent, own, np.random.default_rng(0))
    before, number = state(agent), len(events)
    if family:
        with pytest.raises(ValueError, match="old_reward"):
            agent.correct(made[0].id, 0.0, forgotten=(made[0], 1.0))
        with pytest.raises(ValueError, match="must be"):
            agent.correct(made[0].id, 0.0, forgotten=(made[0], 0.5))
        assert state(agent) == before
        assert len(events) == number
    else:
        agent.correct(made[0].id, 0.0, forgotten=(made[0], 1.0))  # sums of any rewards can be
    late = agent.decide(task)
    agent.reward(late.id, 1.0)
    agent.correct(made[1].id, 1.0, forgotten=(made[1], 0.0))
    given = {} if form != "clicks" else {"rewards": "bernoulli"}
    arms = {"u": [1.0, 0.0], "v": [0.3, 1.0]} if form == "clicks" else first_arms(form)
    again = hb.Agent.replay(
        events, _prior(form), policy="HierTS", arms=arms, remember=3, seed=0, **given
    )
    np.testing.assert_allclose(again.belief.hyper().mean, agent.belief.hyper().mean, rtol=1e-9)
