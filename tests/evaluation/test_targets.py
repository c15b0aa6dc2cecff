"""Which policies can be evaluated, and by which methods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits import evaluate, hieropo
from hierbandits.logs import Survey
from hierbandits.policies.recipes import POLICIES


def _learned(name, frame, survey, prior):
    """A policy of this name that has learned from these rows, in the numbering of a survey."""
    policy = POLICIES[name](prior, population=survey.population)
    tasks = [survey.tasks.index(task) for task in frame["task"]]
    policy.learn(tasks, [int(arm[1:]) for arm in frame["arm"]], frame["reward"].to_numpy())
    return policy


@pytest.mark.parametrize("name", ["HierOPO", "greedy", "frozen:HierUCB", "frozen:LinUCB"])
def test_a_frozen_policy_plays_what_the_policy_itself_would(name):
    rng = np.random.default_rng(15)
    world = World.drawn(rng)
    frame, prior = world.rows(rng, 400, barred=0.3), world.prior(task_std=1.0)
    log = world.log(frame, eligible="eligible")
    survey, late = Survey.of(log), frame[200:]  # every arm is played before: there are no ties
    if name == "HierOPO":
        early = hieropo(world.log(frame[:200]), prior=prior, delta=0.2)
        pairs = zip(late["task"], late["eligible"], strict=True)
        choices = np.array([int(early.arm(task, arms)[1:]) for task, arms in pairs])
    else:
        recipe = {"greedy": "HierGreedy"}.get(name, name.removeprefix("frozen:"))
        policy = _learned(recipe, frame[:200], survey, prior)
        tasks = [survey.tasks.index(task) for task in late["task"]]
        masks = np.array([[arm in row for arm in world.arms] for row in late["eligible"]])
        choices = policy.act(rng, tasks, None, masks)
    agreed = choices == [int(arm[1:]) for arm in late["arm"]]
    expected = (agreed * late["reward"].to_numpy() / late["p"].to_numpy()).mean()
    evaluation = evaluate(log, name, ["ips"], prior=prior, split="time", delta=0.2)
    assert_allclose(evaluation[name, "ips"].value, expected, rtol=1e-9)


def test_without_propensities_only_the_direct_method_is_left(world, frame):
    log = world.log(frame.drop("p"), propensity=None)
    evaluation = evaluate(log, prior=world.prior())
    assert {e.method for e in evaluation.estimates} == {"logged", "dm"}
    assert evaluation.diagnostics == {}
    with pytest.raises(ValueError, match="method 'ips' needs propensities: name their column"):
        evaluate(log, "uniform", ["dm", "ips"])
    with pytest.raises(ValueError, match="replay of policy 'HierTS' needs propensities"):
        evaluate(log, "HierTS")
    evaluation = evaluate(log, ["HierTS", "uniform"], prior=world.prior(), uniform=True)
    assert evaluation["uniform", "ips"].value == pytest.approx(frame["reward"].mean())


def test_a_recipe_is_a_learning_policy_under_any_name(world, log):
    evaluation = evaluate(
        log, {"mine": POLICIES["HierUCB"], "theirs": "HierUCB"}, prior=world.prior()
    )
    assert evaluation["mine", "replay"].rows > 0
    with pytest.raises(ValueError, match="'mine' learns as it goes"):
        evaluate(log, {"mine": POLICIES["HierUCB"]}, ["dr"])


def test_no_method_at_all_is_refused(log):
    with pytest.raises(ValueError, match="methods must hold at least one method, got none"):
        evaluate(log, "greedy", [])
