"""Sound objects of the package for a fuzz to begin with: without them it would not get far."""

import numpy as np

import hierbandits as hb
from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.policies import BeliefView
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.simulation.schedules import SCHEDULES, History
from support.environments import ENVIRONMENTS
from support.hostile_values import GRIDS, LINEAR, MODELS

TASKS = 3
REWARDS = [1.0, 0.0, 1.0, 0.0]  # which any family has


def cast():
    """New objects of many classes, some of which have learned something."""
    rng = np.random.default_rng(0)
    for place, model in enumerate(MODELS):
        yield model
        yield from _of_model(model, list(hb.POLICIES)[place :: len(MODELS)], rng)
    for model in GRIDS:
        yield model
        yield from _of_model(model, ["HierTS", "HierIDS"], rng)
        yield model.FAMILY
    for environment in ENVIRONMENTS.values():
        yield environment
        worlds = environment.worlds(rng, 0, 0, 2)
        yield worlds
        yield worlds.offer(_events(rng))
    yield from (_events(rng), Stream(3, "reward"), History(2, TASKS, 4), *SCHEDULES.values())
    yield hb.simulate(
        ENVIRONMENTS["armed"], ["HierTS"], SCHEDULES["federated"], 2, num_interactions=3
    )
    yield hb.bounds.sequential(LINEAR[2], 3, 4)
    yield from _with_contexts()


def _of_model(model, policies, rng):
    armed, dim = model.is_armed, model.dim
    tasks = (2, 2) if model.num_levels == 3 else TASKS
    table = rng.standard_normal((4, dim))
    features = rng.integers(0, dim, 4) if armed else table
    for name in policies:
        policy = hb.POLICIES[name](model, tasks, 2, truth=rng.standard_normal((2, dim)))
        policy.learn([0, 1, 2, 1], features, REWARDS)
        yield from (policy, policy.belief, BeliefView(policy.belief))
    sums = hb.TaskSums.zeros(TASKS, dim, armed=armed)
    sums.add([0, 1, 2, 1], features, REWARDS)
    yield sums
    for events in (0, 1, 2, 3, 5):
        arms = None if armed else table
        yield hb.Arms.of(arms, events, dim, armed=armed)
    if model.num_levels == 2:
        belief = policy.belief
        yield ArmPosteriors.of(belief, None if armed else table, np.arange(TASKS))
        agent = hb.Agent(model, "HierTS", arms=None if armed else table, seed=0, draws=4)
        for task in ("a", "b"):
            yield (decision := agent.decide(task))
            agent.reward(decision.id, float(rng.integers(2)))
        agent.decide("a")
        yield from (agent, agent.log())


def _with_contexts():
    """An encoder, and an agent that has it."""
    rows = [{"x": "a", "age": 3.0, "city": "é"}, {"x": "b", "age": 4.0, "city": "u"}]
    encoder = hb.Encoder.fit(rows, arm="x", context=["age", "city"])
    start = hb.Start(hb.UnknownWidths.of(encoder.dim, armed=False), encoder=encoder)
    agent = hb.Agent(start, "HierTS", seed=0)
    agent.decide("a", context={"age": 3, "city": "é"})
    yield from (encoder, *encoder.columns, start, agent)


def _events(rng):
    return Events(rng.integers(0, 2, 3), rng.integers(0, TASKS, 3), rng.integers(0, 9, 3))
