"""The policies that evaluation knows: frozen ones play as the policies themselves, HierOPO."""

from functools import partial

import numpy as np
import pytest
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import World, drawn_case

from hierbandits import Belief, evaluate, hieropo
from hierbandits.evaluation.frozen_policies import ThompsonShares
from hierbandits.evaluation.training import LogTotals
from hierbandits.keyed_random import Stream
from hierbandits.logs.split import Split
from hierbandits.logs.survey import Survey
from hierbandits.policies.arms import Arms
from hierbandits.policies.recipes import POLICIES
from hierbandits.policies.ucb_rule import ucb, ucb_width

T = 6


def _shares_by_acting(scores, eligible, times, rng):
    """How often a Thompson policy at this belief plays each arm."""
    belief, policy = scores.belief, POLICIES["HierTS"]
    actor = policy(belief._nodes.levels.hierarchies[0])
    actor.belief = belief
    counts = np.zeros(eligible.shape)
    arms = None if scores.table is None else scores.table
    for task in range(len(eligible)):
        for _ in range(times):
            choice = actor.act(rng, [task], arms, eligible[task])[0]
            counts[task, choice] += 1
    return counts / times


@pytest.mark.parametrize("linear", [False, True])
def test_frozen_thompson_plays_as_often_as_the_policy_itself_does(linear):
    rng = np.random.default_rng(8)
    world, frame, features, prior = drawn_case(rng, linear)
    survey = Survey.of(world.log(frame))
    totals = LogTotals.of(survey, Split("none", 1, (0,), 0))
    x = None if not linear else np.array([features[f"a{i}"] for i in range(4)])
    training = totals.training(0, [0], prior, x)
    scores, row = training.scores(POLICIES["HierTS"])
    shares = ThompsonShares(scores, row, 20_000, Stream(0, "test"))
    eligible = np.ones((T, 4), bool)
    eligible[0, 2] = eligible[3, 1] = False
    got = shares(np.arange(T), eligible)
    assert (got[~eligible] == 0).all()
    assert_allclose(got.sum(axis=1), 1)
    acted = _shares_by_acting(scores, eligible, 400, rng)
    error = np.sqrt(np.maximum(got * (1 - got), 1e-3) / 400)
    assert (np.abs(acted - got) < 5 * error).all()
    again = shares(np.array([5, 5, 0]), eligible[[5, 5, 0]])
    assert_allclose(again, got[[5, 5, 0]], atol=0)
    pair = np.zeros((1, 4), bool)
    pair[0, [0, 3]] = True  # two arms: the exact probability
    gap = training.model().belief.task(int(row[2]))
    along = np.zeros(4) if x is None else x[0] - x[3]
    if x is None:
        along[[0, 3]] = 1, -1
    exact = scipy.stats.norm.cdf(along @ gap.mean / np.sqrt(along @ gap.cov @ along))
    assert abs(shares(np.array([2]), pair)[0, 0] - exact) < 5 * np.sqrt(0.25 / 20_000)


def test_hieropo_plays_the_highest_lower_bound_in_every_task():
    rng = np.random.default_rng(9)
    world = World.drawn(rng, tasks=12, skew=2.0)
    frame = world.rows(rng, 200)
    log, prior = world.log(frame), world.prior()
    for alpha in (None, 0.0, 1.5):
        learned = hieropo(log, prior=prior, delta=0.1, alpha=alpha)
        width = ucb_width(0.1) if alpha is None else alpha
        belief = Belief(prior, len(learned.tasks))
        order = {name: place for place, name in enumerate(learned.tasks)}
        belief.observe(
            [order[task] for task in frame["task"]],
            [int(arm[1:]) for arm in frame["arm"]],
            frame["reward"].to_numpy(),
        )
        arms = Arms.of(None, len(order), 3, armed=True)
        best = ucb(belief, rng, np.arange(len(order)), arms, width=-width)
        assert [learned.arms.index(arm) for arm in learned.frame()["arm"]] == best.tolist()
        for place, task in enumerate(learned.tasks):
            posterior = belief.task(place)
            assert_allclose(learned.mean[place], posterior.mean, rtol=1e-9)
            assert_allclose(learned.lower[place], posterior.mean - width * posterior.std)
            rest = [arm for arm in learned.arms if arm != learned.arm(task)]
            places = [learned.arms.index(arm) for arm in rest]
            second = places[int(np.argmax(learned.lower[place][places]))]
            assert learned(task, tuple(rest)) == {learned.arms[second]: 1.0}
    text = str(learned).splitlines()
    assert len(text) == 13
    assert text[0].split() == ["task", "arm", "mean", "lower", "bound", "plays", "rows"]
    with pytest.raises(ValueError, match="learned from these very rows"):
        evaluate(log, {"it": learned})
    other = world.log(world.rows(rng, 200))
    assert evaluate(other, {"it": learned}, ["ips"])["it", "ips"].rows == 200
    with pytest.raises(ValueError, match=r"alpha must be a number of at least 0, got -1"):
        hieropo(log, prior=prior, alpha=-1.0)
    with pytest.raises(ValueError, match="task must be one of"):
        learned.arm("nowhere")


def test_pessimism_earns_more_than_greed_where_arms_were_hardly_tried():
    """A logger that tries bad arms rarely: their means are noise, and greed falls for it."""
    gap = []
    for seed in range(40):
        rng = np.random.default_rng([10, seed])
        values = np.tile([0.5, 0, 0, 0, 0, 0, 0, 0], (10, 1))
        odds = np.tile([0.86] + [0.02] * 7, (10, 1))
        world = World(values, odds)
        log, prior = world.log(world.rows(rng, 400)), world.prior(hyper_std=0.01, task_std=1.0)
        earned = []
        for alpha in (0.0, 1.5):
            learned = hieropo(log, prior=prior, alpha=alpha)
            earned.append(values[0][learned.choices].mean())
        gap.append(earned[1] - earned[0])
    gap = np.array(gap)
    assert gap.mean() > 4 * gap.std(ddof=1) / np.sqrt(40)


def _learned(name, frame, survey, prior):
    """A policy of this name that has learned from these rows, in the numbering of a survey."""
    policy = POLICIES[name](prior, survey.width, survey.num_populations)
    nodes = [survey.node[survey.tasks.index(task)] for task in frame["task"]]
    policy.learn(nodes, [int(arm[1:]) for arm in frame["arm"]], frame["reward"].to_numpy())
    return policy


@pytest.mark.parametrize("name", ["HierTS", "TS", "PooledTS", "HierUCB", "LinUCB"])
def test_a_frozen_policy_knows_what_the_policy_itself_would(name):
    rng = np.random.default_rng(14)
    world = World.drawn(rng)
    frame = world.rows(rng, 150)
    prior = world.prior(hyper_mean=[0.3, -0.2, 0.1], task_std=[0.2, 0.5, 0.3])
    survey = Survey.of(world.log(frame, population="group"))  # populations of 4 and 2 tasks
    training = LogTotals.of(survey, Split("none", 1, (0,), 0)).training(0, [0], prior, None)
    scores, row = training.scores(POLICIES[name])
    policy = _learned(name, frame, survey, prior)
    for task in range(T):
        expected = policy.predict(np.full(3, survey.node[task]), np.arange(3))
        assert_allclose(scores.mean[row[task]], expected.mean, rtol=1e-8)
        assert_allclose(scores.std[row[task]], expected.std, rtol=1e-8)


@pytest.mark.parametrize("name", ["HierOPO", "greedy", "frozen:HierUCB", "frozen:LinUCB"])
def test_a_frozen_policy_plays_what_the_policy_itself_would(name):
    rng = np.random.default_rng(15)
    world = World.drawn(rng)
    frame, prior = world.rows(rng, 400, barred=0.3), world.prior(task_std=1.0)
    log = world.log(frame, eligible="eligible")
    survey, late = Survey.of(log), frame[200:]  # every arm is played before: there are no ties
    recipe = {"HierOPO": "HierTS", "greedy": "HierGreedy"}.get(name, name.removeprefix("frozen:"))
    policy = _learned(recipe, frame[:200], survey, prior)
    if name == "HierOPO":
        policy.rule = partial(ucb, width=-ucb_width(0.2))
    tasks = [survey.node[survey.tasks.index(task)] for task in late["task"]]
    masks = np.array([[arm in row for arm in world.arms] for row in late["eligible"]])
    choices = policy.act(rng, tasks, None, masks)
    agreed = choices == [int(arm[1:]) for arm in late["arm"]]
    expected = (agreed * late["reward"].to_numpy() / late["p"].to_numpy()).mean()
    found = evaluate(log, name, ["ips"], prior=prior, split="time", delta=0.2)
    assert_allclose(found[name, "ips"].value, expected, rtol=1e-9)
