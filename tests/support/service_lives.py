"""Policies of every kind in a ledger of their own, random lives for them, and what they know."""

import json
import time

import numpy as np

from hierbandits.beliefs.model_kinds import model_from_dict, model_to_dict
from hierbandits.service.api_problem import Problem
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import from_ledger
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.wire import DecisionRequest
from support.agent_lives import EVERY_PRIOR
from support.agents import state

NAMES = ["a", "b", "c"]
FEATURES = {"a": [1.0, -0.5], "b": [0.3, 0.8], "c": [-0.7, 0.4]}


def _settings(prior, **more):
    arms = NAMES[: prior.dim] if prior.is_armed else FEATURES
    return PolicySettings(arms=arms, prior=model_to_dict(prior), draws=5, **more)


KINDS = {name: _settings(prior) for name, prior in EVERY_PRIOR.items()} | {
    "unknown": PolicySettings(arms=NAMES, draws=5),
    "unknown-linear": PolicySettings(arms=FEATURES, draws=5),
    "unknown-bernoulli": PolicySettings(arms=NAMES, rewards="bernoulli", draws=5),
}
"""A policy of every kind of model."""
IS_KNOWN = {name: not name.startswith("unknown") for name in KINDS}


class Core:
    """One policy with its ledger, whose batches are stored when a test says so."""

    def __init__(self, path, settings, name="shop", seed=7, clock=time.time):
        self.storage = SqliteStorage(path)
        self.record = self.storage.create_policy(name, settings.to_json(), 1.0)
        written = []
        agent = settings.make_agent(written.append, seed=seed, clock=clock)
        self.clock = clock
        self.live = LivePolicy(
            self.record, settings, 1, self.storage, 0, agent, written, clock=clock
        )

    def store(self):
        """Store what has happened."""
        number, batch = self.live.number, self.live.take_batch()
        self.storage.commit(batch)
        self.live.stored(number)

    def decide(self, task, arms=None, **parts):
        """One decision, or the Problem; it is not stored yet."""
        return self.live.decide([DecisionRequest(task, arms, **parts)])[0]

    def reward(self, id, value):
        """What becomes of one reward; it is not stored yet."""
        return self.live.reward([(id, value)])[0]

    def become(self, settings, steps=()):
        """The next version, from the ledger; with steps it is ramped."""
        written, seen = [], self.storage.last(self.record.id)
        agent = from_ledger(
            self.record, settings, self.storage, written.append, until=seen, clock=self.clock
        )
        beside = bool(steps) and self.live.rollout.check_candidate(steps)
        self.live = self.live.become(settings, agent, written, seen, 2.0, beside=beside)
        if steps:
            self.live.rollout.start_candidate(steps, "ana")

    def recomputed(self, settings=None):
        """An agent that the ledger alone has taught."""
        self.store()
        return from_ledger(
            self.record, settings or self.live.settings, self.storage, lambda event: None,
            until=self.storage.last(self.record.id),
        )  # fmt: skip

    def events(self):
        """All events as they are stored."""
        self.store()
        return [json.loads(data) for _, data in self.storage.events(self.record.id)]


def known(agent):
    """All of an agent but its random numbers, and its settings of no consequence."""
    return state(agent)[:-1]


def task_of(settings, number):
    """One of several tasks: strings, integers, and paths where a policy is deep."""
    names = ["user 1", 1, "1", "Köln ☕", -(2**63), "naïve\u0000", 2**63]
    name = names[number % len(names)]
    prior = settings.prior or {}
    is_deep = len(prior.get("covs", prior.get("hierarchy", {}).get("covs", []))) > 2
    return [f"group {number % 2}", name] if is_deep else name


def value_of(settings, rng):
    """A reward that fits the family of a policy."""
    prior = settings.prior or {}
    is_counted = prior.get("rewards", settings.rewards) or "Gaussian" not in _model(prior)
    return float(rng.integers(0, 2)) if is_counted else float(rng.normal(0.5, 1.0))


def _model(prior):
    """The name of the class of a prior's tasks."""
    return type(model_from_dict(prior)).__name__ if prior else "Gaussian"


def live_on(core, rng, steps=60, stores=0.5, tasks=range(7)):
    """Rounds, rewards in any order, twice and wrong, corrections, late ones, arms and tasks."""
    settings, waiting, settled = core.live.settings, [], []
    for _ in range(steps):
        kind = rng.integers(0, 10)
        if kind <= 3:
            asked = [task_of(settings, int(n)) for n in rng.choice(tasks, rng.integers(1, 4))]
            requests = [
                DecisionRequest(
                    task,
                    id=f"own {core.live.number} {i} é" if rng.random() < 0.4 else None,
                    best=bool(rng.random() < 0.2),
                )
                for i, task in enumerate(asked)
            ]
            waiting += [reply.id for reply in core.live.decide(requests)]
        elif kind <= 7 and waiting:
            chosen = rng.permutation(len(waiting))[: rng.integers(1, 4)]
            given = [(waiting[i], value_of(settings, rng)) for i in chosen]
            outcomes = core.live.reward(given)
            assert not any(isinstance(one, Problem) for one in outcomes), outcomes
            settled += [id for id, _ in given]
            waiting = [id for i, id in enumerate(waiting) if i not in set(chosen.tolist())]
        elif kind == 8 and settled:
            id = settled[rng.integers(len(settled))]
            core.live.correct(id, value_of(settings, rng))
            core.live.reward([(id, 0.123)])  # a conflict
        elif kind == 9 and settings.prior is not None and isinstance(settings.arms, list):
            task = task_of(settings, int(rng.choice(tasks)))
            core.live.learn(
                [tuple(task) if isinstance(task, list) else task],
                [NAMES[0]],
                [value_of(settings, rng)],
            )
        if rng.random() < stores:
            core.store()
    core.store()
    return waiting, settled


def means(agent):
    """The posterior mean of every task, by its name."""
    return {
        task: np.array(agent.task_table(task)["mean"], float)
        for task in sorted(agent.tasks, key=repr)
    }


def assert_close(one, two, tolerance=1e-9):
    """Whether two agents know the same of the same tasks."""
    one, two = means(one), means(two)
    assert one.keys() == two.keys()
    for task, mean in one.items():
        np.testing.assert_allclose(mean, two[task], rtol=tolerance, atol=tolerance)
