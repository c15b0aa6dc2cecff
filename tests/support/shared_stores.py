"""Policies that workers share, without any server: books of one store, and plain references."""

import threading
import time
from contextlib import contextmanager

import numpy as np

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_book import SharedBook
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_version import ArmChange
from hierbandits.service.wire import DecisionRequest

ARMS = ["a", "b", "c"]
ARMED = hb.GaussianHierarchy.armed(
    3, hyper_mean=[0.2, -0.1, 0.5], hyper_std=[1.0, 0.5, 2.0], task_std=[0.3, 0.6, 0.4],
    noise_std=0.7,
)  # fmt: skip
COMMON = hb.GaussianHierarchy.armed(
    3, hyper_mean=[0.2, -0.1, 0.5], hyper_std=[1.0, 0.5, 2.0], task_std=[0.3, 0.6, 0.4],
    noise_std=0.7, common_std=0.5,
)  # fmt: skip
LINEAR = hb.GaussianHierarchy(
    hyper_mean=[0.3, -0.2], hyper_cov=[[1.0, 0.4], [0.4, 2.0]],
    task_cov=[[0.5, -0.1], [-0.1, 0.3]], noise_std=0.6,
)  # fmt: skip
FEATURES = {"p": [1.0, 0.5], "q": [-0.3, 1.2], "r": [0.7, -0.9]}
SETTINGS = {
    "armed": PolicySettings(arms=ARMS, prior=model_to_dict(ARMED), draws=10),
    "common": PolicySettings(arms=ARMS, prior=model_to_dict(COMMON), draws=10),
    "linear": PolicySettings(arms=FEATURES, prior=model_to_dict(LINEAR), draws=10),
}
PRIORS = {"armed": ARMED, "common": COMMON, "linear": LINEAR}
FAMILIES = {
    "clicks": hb.GeneralizedHierarchy(ARMED, "bernoulli"),
    "clicks in common": hb.GeneralizedHierarchy(COMMON, "bernoulli"),
    "clicks by features": hb.GeneralizedHierarchy(LINEAR, "bernoulli"),
    "counts": hb.GeneralizedHierarchy(ARMED, "poisson"),
}
OF_FAMILIES = {
    kind: PolicySettings(
        arms=ARMS if model.is_armed else FEATURES, prior=model_to_dict(model), draws=10
    )
    for kind, model in FAMILIES.items()
}
UNKNOWN = {
    "clicks": PolicySettings(arms=ARMS, rewards="bernoulli", draws=10),
    "clicks by features": PolicySettings(arms=FEATURES, rewards="bernoulli", draws=10),
    "counts": PolicySettings(arms=ARMS, rewards="poisson", draws=10),
}
"""Rewards of families whose widths are unknown."""

ADD = ArmChange("add_arm", "d", 0.4, 0.8, 0.5, "ann")
RETIRE = ArmChange("retire_arm", "a", by="ann")


@contextmanager
def books(url, number=1):
    """Workers of a store; nobody folds unless asked to."""
    with timed_books(url, *[time.time] * number) as made:
        yield made


class Clock:
    """A clock by hand."""

    def __init__(self, now):
        self.now = now

    def __call__(self):
        return self.now


@contextmanager
def timed_books(url, *clocks):
    """Workers of a store, each with a clock; nobody folds unless asked to."""
    made = []
    try:
        for clock in clocks:
            made.append(SharedBook(SharedLinks(url), clock))
        yield made
    finally:
        for book in made:
            book.close()
            book.links.close()


def act(live, rng, rounds, tasks=6, size=4):
    """Decisions and their rewards: (task, features, reward) of each.

    Rewards of a family are 0 or 1, or up to 3 for counts.
    """
    family = live.tasks.family
    events = []
    for _ in range(rounds):
        wanted = [DecisionRequest(f"t{i}") for i in rng.integers(tasks, size=size)]
        made = live.decide(wanted)
        values = rng.normal(size=size).tolist()
        if family is not None:
            most = 4 if family.NAME == "poisson" else 2
            values = rng.integers(most, size=size).astype(float).tolist()
        told = live.reward([(one.id, value) for one, value in zip(made, values, strict=True)])
        assert {one.status for one in told} == {"learned"}, told
        events += [
            (one.task, live.view.decision(one.id)["features"], value)
            for one, value in zip(made, values, strict=True)
        ]
    return events


def reward_at_once(lives, made, size):
    """Let each of several workers reward all decisions at the same time; what they are told."""
    told, errors = [], []

    def reward(live, order):
        try:
            for first in range(0, len(made), size):
                some = [made[i] for i in order[first : first + size]]
                told.extend(live.reward([(one.id, 1.0) for one in some]))
        except Exception as error:
            errors.append(error)

    orders = [np.random.default_rng(seed).permutation(len(made)) for seed in range(len(lives))]
    both = zip(lives, orders, strict=True)
    threads = [threading.Thread(target=reward, args=pair) for pair in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    return told


def reference(prior, events):
    """The exact belief after events, and the number of each task in it."""
    tasks = {task: place for place, task in enumerate(dict.fromkeys(task for task, *_ in events))}
    belief = hb.Belief(prior, len(tasks))
    rows = [features for _, features, _ in events]
    belief.observe([tasks[task] for task, *_ in events], rows, [value for *_, value in events])
    return belief, tasks


class MatchedReference:
    """What one belief knows of rewards of a family that are matched as workers do.

    All rewards of a task's arm have one site, which matches their sum.  Rewards of features have a
    site each; when a task has 2, 4, 8 of them and so on, all are matched again, twice, the newest
    first.
    """

    def __init__(self, model):
        self.belief, self.places, self._rows = hb.MatchedBelief(model), {}, {}

    @classmethod
    def after(cls, model, events):
        """After rewards that came one by one, or of arms."""
        known = cls(model)
        for event in events:
            known.learn(*event)
        return known

    def learn(self, task, features, value):
        if task not in self.places:
            (node,) = self.belief.add(int(self.belief.roots[0]))
            self.places[task], self._rows[task] = int(node), []
        rows = self._rows[task]
        if self.belief.is_armed:
            if features not in [row[0] for row in rows]:
                rows.append((features, np.zeros(1), np.zeros(1), np.zeros((3, 1))))
            (row,) = [row for row in rows if row[0] == features]
            row[1][0] += value
            row[2][0] += 1.0
            self._match(task, row)
            return
        rows.append((features, np.array([value]), np.ones(1), np.zeros((3, 1))))
        self._match(task, rows[-1])
        if len(rows) in (2, 4, 8, 16, 32):
            for row in 2 * rows[::-1]:
                self._match(task, row)

    def correct(self, task, number, change):
        """Let a row of a task have another reward, or another sum."""
        row = self._rows[task][number]
        row[1][0] += change
        self._match(task, row)

    def _match(self, task, row):
        features, value, exposure, site = row
        site[2] = 0.0  # its scale, which makes no difference
        self.belief._match_sites(
            np.array([self.places[task]]), np.array([features]), value, exposure, site
        )


def same_posteriors(agent, tasks, belief, places):
    """Whether an agent knows of tasks what a belief does, to 1e-9."""
    for task in tasks:
        one, two = agent.belief.task(agent.node(task)), belief.task(places[task])
        np.testing.assert_allclose(one.mean, two.mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(one.cov, two.cov, rtol=0, atol=1e-9)
