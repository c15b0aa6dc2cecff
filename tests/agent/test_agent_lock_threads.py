"""Eight threads that share an agent, of every kind and with every policy."""

import threading

import numpy as np
import pytest
from support.agent_lives import live, new_agent
from support.shared_agents import KINDS, Shared, able, turns

from hierbandits import POLICIES


@pytest.mark.parametrize(
    ("kind", "policy"), [(kind, policy) for kind in KINDS for policy in able(kind)]
)
def test_calls_of_eight_threads_take_turns(kind, policy, tmp_path):
    shared = Shared(kind, policy, tmp_path)
    shared.use(8, turns(8))
    shared.check()


def test_every_policy_is_tried():
    named = {name for name, recipe in POLICIES.items() if not recipe.knows_truth}
    assert set(able("armed")) == set(able("linear")) == named
    assert {"HierTS", "HierIDS", "AdaptiveHierTS"} <= set(able("unknown armed"))
    assert {"HierTS", "HierIDS"} <= set(able("bernoulli armed")) & set(able("poisson linear"))


@pytest.mark.parametrize("policy", ["HierTS", "AdaptiveHierTS"])
def test_threads_may_ask_one_belief_as_long_as_nobody_changes_it(policy):
    agent = new_agent("linear", policy)
    live(agent, "linear", np.random.default_rng(0), 60)
    belief, answers = agent.belief, {}
    nodes = np.array([agent.node(task) for task in agent.tasks])

    def ask(number):
        rng, x = np.random.default_rng(7), np.random.default_rng(8).normal(size=(nodes.size, 2))
        found = [
            (belief.sample(rng, nodes), *belief.predict(nodes, x), belief.task(nodes[0]).cov)
            for _ in range(30)
        ]
        answers[number] = [[part.tobytes() for part in parts] for parts in found]

    workers = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ask("alone")
    assert all(answers[number] == answers["alone"] for number in range(8))
