"""Policies that workers share, without any server: books of one store, and plain references."""

from contextlib import contextmanager

import numpy as np

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_book import SharedBook
from hierbandits.service.shared_links import SharedLinks
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


@contextmanager
def books(url, number=1):
    """Workers of a store; nobody folds unless asked to."""
    made = []
    try:
        for _ in range(number):
            made.append(SharedBook(SharedLinks(url)))
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


def reference(prior, events):
    """The exact belief after events, and the number of each task in it."""
    tasks = {task: place for place, task in enumerate(dict.fromkeys(task for task, *_ in events))}
    belief = hb.Belief(prior, len(tasks))
    rows = [features for _, features, _ in events]
    belief.observe([tasks[task] for task, *_ in events], rows, [value for *_, value in events])
    return belief, tasks


def matched_reference(model, events):
    """What is known of rewards of a family that are matched one by one, and each task's number.

    Rewards of features have a site each; all rewards of a task's arm have one, for their sum.
    """
    tasks = {task: place for place, task in enumerate(dict.fromkeys(task for task, *_ in events))}
    belief = hb.MatchedBelief(model, len(tasks))
    if not model.is_armed:
        for task, features, value in events:
            belief.observe([tasks[task]], [features], [value])
        return belief, tasks
    sites, totals = np.zeros((len(tasks), model.dim, 3, 1)), np.zeros((len(tasks), model.dim, 2, 1))
    for task, arm, value in events:
        place = tasks[task]
        totals[place, arm] += [[value], [1.0]]
        site = sites[place, arm]
        site[2] = 0.0  # its scale, which makes no difference
        belief._match_sites(np.array([place]), np.array([arm]), *totals[place, arm], site)
    return belief, tasks


def same_posteriors(agent, tasks, belief, places):
    """Whether an agent knows of tasks what a belief does, to 1e-9."""
    for task in tasks:
        one, two = agent.belief.task(agent.node(task)), belief.task(places[task])
        np.testing.assert_allclose(one.mean, two.mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(one.cov, two.cov, rtol=0, atol=1e-9)
