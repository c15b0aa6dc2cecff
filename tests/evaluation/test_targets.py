"""Which policies can be evaluated, and by which methods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits import GaussianHierarchy, evaluate, hieropo
from hierbandits.evaluation.targets import Variant
from hierbandits.logs import Survey
from hierbandits.policies.recipes import POLICIES

ODD = GaussianHierarchy.armed(7, hyper_std=1.0, task_std=0.5, noise_std=0.5)


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


def test_a_variant_mixes_in_chance(world, log):
    """Its value is that of the policy and of uniform choices, in their shares."""
    policies = {"greedy": "greedy", "uniform": "uniform", "both": Variant("greedy", floor=0.3)}
    evaluation = evaluate(log, policies, ["ips", "dr"], prior=world.prior())
    for method in ("ips", "dr"):
        greedy, uniform, both = (evaluation[name, method].value for name in policies)
        assert_allclose(both, 0.7 * greedy + 0.3 * uniform, rtol=1e-12)


def test_a_variant_has_a_prior_of_its_own(world, log):
    """As in an evaluation with that prior; the reward model keeps the other."""
    own, other = world.prior(hyper_std=0.01), world.prior(hyper_std=2.0)
    policies = {"mine": Variant("frozen:HierUCB", prior=own), "theirs": "frozen:HierUCB"}
    both = evaluate(log, policies, ["ips", "dm"], prior=other)
    alone = evaluate(log, "frozen:HierUCB", ["ips", "dm"], prior=own)
    assert both["mine", "ips"].value == alone["frozen:HierUCB", "ips"].value
    assert both["mine", "dm"].value != alone["frozen:HierUCB", "dm"].value
    assert both["mine", "ips"].value != both["theirs", "ips"].value


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant("greedy", floor=1.5), r"floor must be in \[0, 1\], got 1.5"),
        (Variant("HierTS"), "policy 'mine' must be frozen to be varied"),
        (Variant("frozen:Nobody"), "must name one of"),
        (Variant("greedy", prior=ODD), "prior must have the log's 3 arms"),
    ],
)
def test_odd_variants_are_refused(world, log, variant, words):
    with pytest.raises(ValueError, match=words):
        evaluate(log, {"mine": variant}, ["dr"], prior=world.prior())
