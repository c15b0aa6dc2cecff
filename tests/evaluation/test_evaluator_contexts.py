"""Policies that choose in the context of each row, beside brute force and beside the truth."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.context_worlds import PROMOS, ContextWorld, context_log
from support.logged import sums_by_group
from support.oracle import dense_posterior

import hierbandits as hb
from hierbandits.evaluation.training import Training
from hierbandits.logs import Split, Survey
from hierbandits.policies.ucb_rule import ucb_width

NAMES = {"task": "store", "arm": "promo", "reward": "revenue", "propensity": "p"}
AGE = {**NAMES, "features": ["age"]}
RUNS = 20


def by_age(task, arms, context):
    """A policy of one's own: it asks for the age alone."""
    likes = {"none": 1.0, "flyer": 3.0 if context["age"] >= 40 else 0.2, PROMOS[2]: 1.0}
    odds = np.array([likes[arm] for arm in arms])
    return odds / odds.sum()


@cache
def small():
    """A log of three tasks and one number, and what its folds are trained to believe."""
    _, frame, _ = context_log(8, count=90, stores=3)
    log = hb.Log.read(frame, hb.Columns(**AGE))
    survey = Survey.of(log)
    split = Split.for_evaluation(survey, "folds", folds=2, seed=0)
    sums = sums_by_group(log, split)
    priors = [Training.of(survey, g, sums.of([1 - g]), None, None).prior for g in (0, 1)]
    group = split.groups(np.arange(90))
    x = log.encoder.encode(frame)  # (E, K, d)
    task = np.array([survey.tasks.index(name) for name in frame["store"]])
    arm = np.array([log.encoder.arms.index(name) for name in frame["promo"]])
    joints = []
    for g, prior in enumerate(priors):
        kept = np.flatnonzero(group != g)
        design = np.zeros((kept.size, 4 * 6))  # three tasks and what they share
        for e, row in enumerate(kept):
            design[e, 6 * task[row] : 6 * task[row] + 6] = x[row, arm[row]]
        covs = [prior.task_cov] * 3 + [prior.hyper_cov]
        rewards, noise = frame["revenue"].to_numpy()[kept], np.full(kept.size, prior.noise_std**2)
        means = [None] * 3 + [prior.hyper_mean]
        joints.append(dense_posterior([3, 3, 3, -1], covs, means, design, rewards, noise))
    return frame, log, group, x, task, arm, joints


def expected(row):
    """The mean and the covariance of all arms in a row, by the joint posterior of its fold."""
    _, _, group, x, task, _, joints = small()
    mean, cov = joints[group[row]].of(task[row])
    return x[row] @ mean, x[row] @ cov @ x[row].T


def greedy(row):
    return np.eye(3)[expected(row)[0].argmax()]


def pessimistic(row):
    mean, cov = expected(row)
    alpha = ucb_width(0.05)
    bounds = [
        max(
            mean[b] - mean[a] + alpha * np.sqrt(cov[a, a] + cov[b, b] - 2 * cov[a, b])
            for b in range(3)
            if b != a
        )
        for a in range(3)
    ]
    return np.eye(3)[np.argmin(bounds)]


def own(row):
    frame, log, *_ = small()
    return by_age(None, log.encoder.arms, {"age": frame["age"][int(row)]})


@pytest.mark.parametrize(
    ("policy", "shares_of"), [("greedy", greedy), ("HierOPO", pessimistic), ("mine", own)]
)
def test_estimates_are_those_of_brute_force(policy, shares_of):
    frame, log, group, x, task, arm, joints = small()
    given = {policy: by_age if policy == "mine" else policy}
    evaluation = hb.evaluate(log, given, folds=2, split="folds")
    each = np.arange(90)
    shares = np.array([shares_of(row) for row in each])
    q = np.array([expected(row)[0] for row in each])
    rewards, p = frame["revenue"].to_numpy(), frame["p"].to_numpy()
    weight = shares[each, arm] / p
    terms = (shares * q).sum(1) + weight * (rewards - q[each, arm])
    assert_allclose(evaluation[policy, "ips"].value, (weight * rewards).mean(), rtol=1e-9)
    snips = (weight * rewards).sum() / weight.sum()
    assert_allclose(evaluation[policy, "snips"].value, snips, rtol=1e-9)
    assert_allclose(evaluation[policy, "dr"].value, terms.mean(), rtol=1e-7)
    assert_allclose(evaluation[policy, "dr"].error, terms.std(ddof=1) / 90**0.5, rtol=1e-6)
    assert_allclose(evaluation[policy, "dm"].value, (shares * q).sum(1).mean(), rtol=1e-7)
    error = 0.0
    for g, joint in enumerate(joints):
        along = np.zeros(4 * 6)
        for row in np.flatnonzero(group == g):
            along[6 * task[row] : 6 * task[row] + 6] += shares[row] @ x[row] / 90
        error += np.sqrt(along @ joint.cov @ along)
    assert_allclose(evaluation[policy, "dm"].error, error, rtol=1e-6)


def test_the_best_arm_is_best_over_the_training_rows_and_their_contexts():
    _, log, group, x, task, _, joints = small()
    evaluation = hb.evaluate(log, "best arm", ["dm"], folds=2, split="folds")
    for g, best in enumerate(evaluation.best_arms):
        kept = np.flatnonzero(group != g)
        values = np.mean([x[row] @ joints[g].of(task[row])[0] for row in kept], axis=0)
        assert best == log.encoder.arms[values.argmax()]


def test_thompson_sampling_plays_arms_as_often_as_they_are_best():
    names = ["greedy", "frozen:HierTS", "uniform"]
    evaluation = hb.evaluate(small()[1], names, ["dm"], folds=2, split="folds", draws=20_000)
    best, sampled, uniform = (evaluation[name, "dm"].value for name in names)
    rng = np.random.default_rng(0)
    value = 0.0
    for row in range(90):
        mean, cov = expected(row)
        drawn = rng.multivariate_normal(mean, cov, 20_000).argmax(axis=1)
        value += np.bincount(drawn, minlength=3) / 20_000 @ mean / 90
    assert sampled == pytest.approx(value, abs=0.004)
    assert best > sampled > uniform


def test_batches_do_not_matter():
    frame, log, *_ = small()
    few = hb.Log.read(frame, log.columns, encoder=log.encoder, batch_rows=7)
    policies = [
        "HierOPO",
        "frozen:HierTS",
        "frozen:HierIDS",
        "frozen:HierUCB",
        "frozen:HierRandUCB",
        "frozen:TS",
        "frozen:PooledTS",
        "HierTS",
    ]
    one, other = (
        hb.evaluate(each, policies, folds=2, split="folds", draws=50) for each in (log, few)
    )
    for first, second in zip(one.estimates, other.estimates, strict=True):
        assert_allclose(first.value, second.value, rtol=1e-7)


def test_eligible_arms_alone_are_played():
    frame, *_ = small()
    frame = frame.with_columns(may=frame["promo"].map_elements(lambda a: ["none", a], list[str]))
    frame = frame.with_columns(may=frame["may"].list.unique())
    asked = []

    def mine(task, arms, context):
        asked.append((arms, context))
        return [1 / len(arms)] * len(arms)

    evaluation = hb.evaluate(
        frame, {"mine": mine, "uniform": "uniform", "HierTS": "HierTS"}, **AGE, eligible="may",
        folds=2,
    )  # fmt: skip
    assert {len(arms) for arms, _ in asked} == {1, 2}
    assert all(context.keys() == {"age"} for _, context in asked)
    for method in ("ips", "dr"):
        assert_allclose(evaluation["mine", method].value, evaluation["uniform", method].value)
    assert any("context (age)" in note for note in evaluation.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": hb.GaussianHierarchy.linear(6, hyper_std=1, task_std=1, noise_std=1)},
         "prior must not be given where rows have contexts"),
        ({"arm_features": {"none": [1.0]}}, "arm_features must not be given where rows have"),
        ({"policies": "arm:nothing"}, "arm:NAME must name an arm of the log"),
        ({"policies": {"mine": lambda task, arms, context: [2.0]}}, "must give one probability"),
        ({"features": ["nothing"]}, "columns must be in the log, got 'nothing'"),
        ({"features": ["p"]}, "propensity must have a column of its own"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(change, message):
    frame, *_ = small()
    with pytest.raises(ValueError, match=message):
        hb.evaluate(frame, **({"policies": "uniform"} | AGE | change))


def test_hieropo_of_tasks_alone_refuses_contexts():
    with pytest.raises(ValueError, match="log must not have contexts for hieropo"):
        hb.hieropo(small()[1])


def test_intervals_hold_the_truth_as_often_as_they_say():
    """The truth is the value over all who may come; the model has no city, which matters."""
    rest = {method: [] for method in ("ips", "snips", "dr")}
    for run in range(RUNS):
        rng = np.random.default_rng([run, 3])
        world = ContextWorld.drawn(rng, 4)
        frame = world.frame(rng, 300)
        evaluation = hb.evaluate(frame, {"mine": by_age}, [*rest], **AGE, folds=2)
        store, age, city, _ = world.visitors(np.random.default_rng(run), 40_000)
        shares = np.where((age >= 40)[:, None], [[0.2, 0.6, 0.2]], [[1, 0.2, 1]])
        shares = shares / shares.sum(axis=1, keepdims=True)
        truth = (shares * world.means(store, age, city)).sum(1).mean()
        for method, off in rest.items():
            one = evaluation["mine", method]
            off.append(((one.value - truth) / one.error, one.low <= truth <= one.high))
    for off, inside in (np.array(part).T for part in rest.values()):
        assert abs(off.mean()) < 4 / np.sqrt(RUNS)
        assert 1 - 4 * np.sqrt(2 / RUNS) < (off**2).mean() < 1 + 4 * np.sqrt(2 / RUNS)
        assert inside.mean() >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / RUNS)


def test_who_looks_at_the_context_earns_more_and_it_shows():
    world, _, log = context_log(1, count=600, stores=4, propensity="p")
    evaluation = hb.evaluate(log, ["best arm", "greedy"], ["dr"], folds=2, split="folds")
    assert evaluation.verdict.more_than_arm
    store, age, city, _ = world.visitors(np.random.default_rng(0), 100_000)
    means = world.means(store, age, city)
    best = means.max(axis=1).mean()
    assert means.mean(axis=0).max() + 0.1 < evaluation["greedy", "dr"].value
    assert evaluation["greedy", "dr"].low < best
