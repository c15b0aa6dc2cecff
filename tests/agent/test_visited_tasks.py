"""An agent whose tasks are kept elsewhere decides as one that holds them all."""

import numpy as np
import pytest
from support.shared_stores import ARMED, ARMS, FAMILIES, reference, same_posteriors

import hierbandits as hb
from hierbandits.agent.running_sums import RunningSums
from hierbandits.agent.visited_tasks import VisitedTasks
from hierbandits.beliefs.absent_tasks import without
from hierbandits.beliefs.task_sums import TaskSums


def events(number=50, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"t{i}" for i in rng.integers(5, size=number)]
    return list(
        zip(names, rng.integers(3, size=number).tolist(), rng.normal(size=number), strict=True)
    )


def test_tasks_that_come_are_known_as_if_all_were_there():
    belief, places = reference(ARMED, events())
    sums = TaskSums.zeros(len(places), 3, armed=True)
    for task, arm, value in events():
        sums.add([places[task]], [arm], [value])
    written = []
    agent = hb.Agent(ARMED, "HierTS", arms=ARMS, seed=0, draws=5, journal=written.append)
    visits = VisitedTasks(agent)
    whole = visits.absent.told_by(sums)
    for some in (["t1"], ["t0", "t4"], ["new"], []):
        known = [places[task] for task in some if task in places]
        others = without(whole, visits.absent.told_by(sums.rows(known))) if known else whole
        running = RunningSums(3, armed=True)
        running.put(np.arange(len(known)), sums.rows(known))
        visits.come(some, running, others)
        assert agent.tasks == some
        same_posteriors(agent, [task for task in some if task in places], belief, places)
        if some:
            made = agent.decide_many(some)
            assert agent.num_pending == len(some)
            assert all(one.propensity for one in made)
    np.testing.assert_allclose(agent.belief.hyper().mean, belief.hyper().mean, atol=1e-12)
    table = agent.population_table()
    np.testing.assert_allclose(table["mean"], belief.hyper().mean, atol=1e-12)


def test_clicks_are_known_by_the_sums_of_their_sites():
    model = FAMILIES["clicks"]
    agent = hb.Agent(model, "HierTS", arms=ARMS, seed=0, draws=5)
    known = hb.Belief(model.hierarchy, 1)  # of noise 1
    sites = TaskSums(np.array([[0.2, 0.0, 1.5]]), np.array([[0.1, 0.0, -2.0]]), *np.ones((2, 1)))
    known._learn_tasks(np.array([0]), sites)
    rewards = RunningSums(3, armed=True)
    rewards.add(0, 2, 1.0)
    visits = VisitedTasks(agent)
    visits.come(["t"], rewards, visits.absent.nothing(), sites)
    same_posteriors(agent, ["t"], known, {"t": 0})
    assert agent.task_table("t")["rewards"] == [0, 0, 1]
    assert agent.belief.num_rewards.sum() == 1
    visits.come([], RunningSums(3, armed=True), visits.absent.nothing())
    np.testing.assert_allclose(agent.belief.hyper().mean, model.hyper_mean)


def test_an_agent_that_learns_widths_is_refused():
    with pytest.raises(ValueError, match="agent must have a belief of known widths"):
        VisitedTasks(hb.Agent(arms=ARMS, seed=0))
