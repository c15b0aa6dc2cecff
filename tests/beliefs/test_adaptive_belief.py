"""Widths unknown: the mixture over candidates, against beliefs run apart."""

from functools import partial

import numpy as np
import pytest
from support.adaptive import (
    FORMS,
    NOISE,
    TASKS,
    D,
    adaptive_belief,
    beliefs_apart,
    drawn_events,
    observe_one_by_one,
)

from hierbandits import POLICIES, Belief, Recipe, TaskSums
from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.models.variants import unknown_widths
from hierbandits.policies.thompson_rule import thompson


def _mixed(parts, scales, moments):
    """The moments of a mixture: (weight, mean, within, shared) of each part, scaled."""
    means, withins, shareds = zip(*(moments(own) for _, _, own in parts), strict=True)
    logs = np.array([log for _, log, _ in parts])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    mean = sum(w * m for w, m in zip(weights, means, strict=True))
    within = sum(w * s * v for w, s, v in zip(weights, scales, withins, strict=True))
    shared = sum(w * s * v for w, s, v in zip(weights, scales, shareds, strict=True))
    between = sum(
        w * np.multiply.outer(m - mean, m - mean) if np.ndim(within) == 2 else w * (m - mean) ** 2
        for w, m in zip(weights, means, strict=True)
    )
    return mean, within, shared + between


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_what_it_says_are_the_moments_of_the_mixture(armed, noise):
    events = drawn_events(3, 25, armed)
    belief, widths = adaptive_belief(armed, noise)
    observe_one_by_one(belief, *events)
    parts = list(beliefs_apart(belief, widths, *events))
    assert len(parts) > 3
    # s^2 given the rewards is inverse gamma with shape n / 2 and scale square / 2
    scales = [1.0 if noise else own.evidence.square[0] / (25 - 2) for _, _, own in parts]
    for node in range(TASKS + 1):
        mean, within, shared = _mixed(parts, scales, lambda own, n=node: own._nodes.marginal(n))
        found, split = belief.task(node), belief.uncertainty(node)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-6)
        np.testing.assert_allclose(split.within, within, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(split.shared, shared, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.cov, within + shared, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(belief.hyper().mean, belief.task(TASKS).mean)
    tasks, features = np.array([4, 0, 4]), np.array([2, 0, 1]) if armed else np.eye(D)
    expected = _mixed(parts, scales, lambda own: tuple(own.predict(tasks, features)))
    np.testing.assert_allclose(belief.predict(tasks, features), expected, rtol=1e-6)
    nodes = np.array([1, TASKS, 1])
    means, rows = belief.draws(None, nodes)
    np.testing.assert_allclose(means[rows], [belief.task(n).mean for n in nodes], rtol=1e-9)


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("repeats", [1, 4000])
def test_draws_have_the_moments_of_the_mixture(noise, repeats):
    """One at a time, and many at once as propensities need them."""
    events = drawn_events(4, 40, False)
    belief, _ = adaptive_belief(False, noise)
    observe_one_by_one(belief, *events)
    rng, nodes = np.random.default_rng(0), np.array([2, TASKS, 2])
    drawn = []
    for _ in range(4000 // repeats):
        theta, rows = belief.draws(rng, nodes, repeats=repeats)
        drawn.append(theta[rows].reshape(repeats, 3, D))
    draws = np.concatenate(drawn)
    np.testing.assert_array_equal(draws[:, 0], draws[:, 2])  # repeats of a task share theirs
    for place, node in ((0, 2), (1, TASKS)):
        found, values = belief.task(node), draws[:, place]
        error = found.std / np.sqrt(len(values))
        assert (np.abs(values.mean(0) - found.mean) < 5 * error).all()
        spread = (values - found.mean) ** 2
        error = spread.std(0) / np.sqrt(len(values))
        assert (np.abs(spread.mean(0) - np.diagonal(found.cov)) < 5 * error).all()


def test_only_tasks_are_observed_and_only_what_was_is_revised():
    """Candidates that start late hear of the rewards of tasks, from their sums."""
    belief, _ = adaptive_belief(True, None)
    belief.observe([0], [1], [0.5])
    new = int(belief.add(TASKS)[0])
    before = {name: array.tobytes() for name, array in belief.state()[1].items()}
    with pytest.raises(
        ValueError, match="tasks must be nodes of tasks, got node 5, a root or a group"
    ):
        belief.observe([0, TASKS], [1, 1], [0.5, 0.5])
    for task in (1, TASKS, new):
        with pytest.raises(ValueError, match="task must be one that has had a reward"):
            belief.revise(task, 1, 0.5, 0.7)
    assert before == {name: array.tobytes() for name, array in belief.state()[1].items()}


@pytest.mark.parametrize("armed", FORMS.values(), ids=FORMS)
def test_past_sums_and_revised_rewards_are_as_if_observed(armed):
    tasks, features, rewards = drawn_events(10, 60, armed)
    sums = TaskSums.zeros(TASKS, D, armed=armed)
    sums.add(tasks, features, rewards)
    (told, widths), (learned, _), (revised, _) = (adaptive_belief(armed, None) for _ in range(3))
    told.learn_past(np.arange(TASKS), sums)
    learned.observe(tasks, features, rewards)
    wrong = rewards.copy()
    wrong[7] += 5.0
    revised.observe(tasks, features, wrong)
    revised.revise(int(tasks[7]), features[7], wrong[7], rewards[7])
    np.testing.assert_array_equal(told.num_rewards, [60.0])
    for belief in (told, revised):
        parts = list(beliefs_apart(belief, widths, tasks, features, rewards))
        logs = np.array([log for _, log, _ in parts])
        weights = np.exp(logs - np.logaddexp.reduce(logs))
        np.testing.assert_allclose(belief.candidates.weights()[:, 0], weights, rtol=1e-6)
        found = belief.candidates.sums
        np.testing.assert_allclose(found.xy[:TASKS], sums.xy, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.yy[:TASKS], sums.yy, rtol=1e-9)
    np.testing.assert_allclose(told.task(3).mean, learned.task(3).mean, rtol=0.02)


def test_the_noise_of_single_rewards_cannot_be_stated():
    belief, _ = adaptive_belief(True, None)
    with pytest.raises(ValueError, match="noise_std must not be given"):
        belief.observe([0], [1], [0.5], [0.1])
    np.testing.assert_array_equal(belief.num_rewards, 0.0)


def test_a_saved_belief_resumes_bit_for_bit(tmp_path):
    tasks, features, rewards = drawn_events(12, 90, False, populations=2)
    belief, _ = adaptive_belief(False, None, 2)
    observe_one_by_one(belief, tasks[:60], features[:60], rewards[:60])
    belief.save(tmp_path / "belief.hb")
    again = AdaptiveBelief.load(tmp_path / "belief.hb")
    for each in (belief, again):
        observe_one_by_one(each, tasks[60:], features[60:], rewards[60:])
    for a, b in zip(belief.state()[1].values(), again.state()[1].values(), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="not a sound belief file"):
        Belief.load(tmp_path / "belief.hb")


def test_learning_the_widths_costs_little_regret():
    """A fast look at what `reproduce adaptive` shows with 5,000 runs."""
    import hierbandits as hb
    from hierbandits.experiments.experiment import paper_problem
    from hierbandits.simulation.schedules import Concurrent

    recipe = Recipe(partial(unknown_widths, noise_known=True), thompson, "noise known")
    policies = {"HierTS": POLICIES["HierTS"], "Adaptive": recipe, "TS": POLICIES["TS"]}
    study = hb.simulate(
        paper_problem(1.0, 0.1), policies, Concurrent(5), 100, 3, num_interactions=100
    )
    means = {name: study.mean(name)[0] for name in policies}
    assert means["Adaptive"] < 1.3 * means["HierTS"]
    assert means["Adaptive"] < 0.6 * means["TS"]
