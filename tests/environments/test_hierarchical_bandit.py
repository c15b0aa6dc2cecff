"""Tasks drawn from a hierarchy: their truth, their arms, their rewards and their regret."""

import numpy as np
import pytest
from support.environments import ARMED, DRAWN, LINEAR, arm_values, random_events, regret_of

from hierbandits import GaussianHierarchy
from hierbandits.environments import ActionSets, HierarchicalBandit
from hierbandits.environments.events import Events
from hierbandits.models import FAMILIES, RewardFamily


@pytest.mark.parametrize("name", DRAWN)
def test_worlds_own_the_truth_and_the_regret(name):
    """Regret and mean rewards, recomputed arm by arm from the drawn parameters."""
    environment = DRAWN[name]
    worlds = environment.worlds(np.random.default_rng(0), 7, 100, 3)
    rng = np.random.default_rng(1)
    events = random_events(rng, 3, 5, first_run=100)
    arms = worlds.offer(events)
    choices = arms.numbers((rng.random(40) * arms.sizes).astype(int))
    rewards, regret = worlds.play(events, arms, choices)
    for e in range(40):
        by_hand = regret_of(environment, worlds, events, arms, e, choices[e], first_run=100)
        assert regret[e] == pytest.approx(by_hand, abs=1e-12)
    if environment.rewards == "linear probability":
        assert set(rewards) == {0.0, 1.0}
    again = worlds.offer(events)
    np.testing.assert_array_equal(again.table[again.flat_rows()], arms.table[arms.flat_rows()])
    np.testing.assert_array_equal(worlds.play(events, arms, choices)[0], rewards)


@pytest.mark.parametrize("name", DRAWN)
def test_the_best_arm_has_no_regret_and_every_worse_one_has_some(name):
    environment = DRAWN[name]
    worlds = environment.worlds(np.random.default_rng(0), 7, 0, 3)
    events = random_events(np.random.default_rng(1), 3, 5)
    arms = worlds.offer(events)
    values = [arm_values(environment, worlds, events, arms, e) for e in range(40)]
    best = arms.numbers(np.array([own.argmax() for own in values]))
    np.testing.assert_allclose(worlds.play(events, arms, best)[1], 0.0, atol=1e-14)
    worst = arms.numbers(np.array([own.argmin() for own in values]))
    differs = np.array([np.ptp(own) for own in values]) > 1e-9  # not all cut to 0, or to 1
    assert differs.sum() > 20
    assert (worlds.play(events, arms, worst)[1][differs] > 1e-9).all()


@pytest.mark.parametrize("name", DRAWN)
def test_rewards_have_their_mean(name):
    """And their standard deviation: sigma, or the root of p (1 - p)."""
    environment = DRAWN[name]
    worlds = environment.worlds(np.random.default_rng(0), 7, 0, 1)
    n = 20_000
    events = Events(np.zeros(n, int), np.full(n, 2), np.arange(n))
    arms = worlds.offer(events)
    rewards, _ = worlds.play(events, arms, arms.numbers(np.ones(n, int)))
    means = arms.values(np.tile(worlds.theta[0, 2], (n, 1))).reshape(n, -1)[:, 1]
    noise_var = np.full(n, environment.hierarchy.noise_std**2)
    if environment.rewards == "linear probability":
        means = np.clip(means, 0, 1)
        noise_var = means * (1 - means)
    if isinstance(environment.rewards, RewardFamily):
        means = environment.rewards.mean(means)
        noise_var = means * (1 - means) if environment.rewards.NAME == "bernoulli" else means
    errors = rewards - means
    assert abs(errors.mean()) < 6 * np.sqrt(noise_var.mean() / n)
    assert errors.std() == pytest.approx(np.sqrt(noise_var.mean()), rel=0.03)


def _assert_drawn_from(values, mean, cov):
    """Each mean and covariance is within six standard errors of its own."""
    errors, var = 6 / np.sqrt(len(values)), np.diagonal(cov)
    assert (np.abs(values.mean(axis=0) - mean) < errors * np.sqrt(var)).all()
    cov_errors = errors * np.sqrt(np.outer(var, var) + cov**2)
    assert (np.abs(np.cov(values.T) - cov) < cov_errors).all()


def test_truth_is_drawn_from_the_hierarchy():
    hierarchy = GaussianHierarchy(
        hyper_mean=[0.2, -0.1],
        hyper_cov=[[4.0, 1.8], [1.8, 1.0]],
        task_cov=[[0.1, -0.1], [-0.1, 0.3]],
        noise_std=0.5,
    )
    environment = HierarchicalBandit(hierarchy=hierarchy, num_tasks=2, actions=ActionSets(3))
    worlds = environment.worlds(np.random.default_rng(0), 0, 0, 20_000)
    _assert_drawn_from(worlds.truth, hierarchy.hyper_mean, hierarchy.hyper_cov)
    offsets = worlds.theta - worlds.truth[:, None]
    for task in range(2):
        _assert_drawn_from(offsets[:, task], np.zeros(2), hierarchy.task_cov)
    across = np.corrcoef(offsets.reshape(-1, 4).T)[:2, 2:]  # one task tells nothing of another
    assert np.abs(across).max() < 6 / np.sqrt(20_000)
    given = DRAWN["armed, probability, mu given"].worlds(np.random.default_rng(0), 0, 0, 3)
    np.testing.assert_array_equal(given.truth, [[0.2, 0.4, 0.6, 0.8]] * 3)


def test_policies_are_told_what_is_believed_and_worlds_keep_the_truth():
    other = GaussianHierarchy.armed(4, hyper_std=9.0, task_std=2.0, noise_std=3.0)
    parts = {"hierarchy": ARMED, "num_tasks": 5}
    honest, mistaken = HierarchicalBandit(**parts), HierarchicalBandit(**parts, believed=other)
    assert honest.prior is ARMED
    assert mistaken.prior is other
    events = random_events(np.random.default_rng(1), 2, 5)
    played = []
    for environment in (honest, mistaken):
        worlds = environment.worlds(np.random.default_rng(0), 7, 0, 2)
        played.append(worlds.play(events, worlds.offer(events), np.zeros(40, int)))
    np.testing.assert_array_equal(played[0], played[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_tasks": 0}, "num_tasks must be a whole number of at least 1"),
        ({"actions": None}, "actions must be given for linear"),
        ({"hierarchy": ARMED}, "actions must be given for linear hierarchies and for them alone"),
        (
            {"rewards": "clicks"},
            "rewards must be one of gaussian, bernoulli, binomial, poisson, linear prob.* 'clicks'",
        ),
        ({"hyper": [1.0]}, "hyper must have shape"),
        ({"believed": ARMED}, "believed must have the form"),
    ],
)
def test_bad_environments_are_named(changes, message):
    parts = {"hierarchy": LINEAR, "num_tasks": 3, "actions": ActionSets()}
    with pytest.raises(ValueError, match=message):
        HierarchicalBandit(**(parts | changes))


def test_a_hierarchy_of_three_levels_is_refused():
    deep = GaussianHierarchy.deep(hyper_mean=[0.0], covs=[[[1.0]]] * 3, noise_std=1.0)
    with pytest.raises(ValueError, match=r"hierarchy must have two levels, got .*3 levels"):
        HierarchicalBandit(hierarchy=deep, num_tasks=3, actions=ActionSets())


@pytest.mark.parametrize("name", ["linear, arms per run", "linear, arms per round", "armed"])
def test_worlds_refuse_events_and_choices_that_are_not_theirs(name):
    worlds = DRAWN[name].worlds(np.random.default_rng(0), 7, 100, 3)
    right = Events(np.array([100, 102]), np.array([0, 4]), np.array([0, 1]))
    arms = worlds.offer(right)
    for part, values, message in (
        ("run", [99, 100], r"events\.run must be in"),
        ("run", [100, 10**9], r"events\.run must be in"),
        ("task", [0, 5], r"events\.task must be in"),
        ("task", [0, -1], r"events\.task must be in"),
        ("task", [0], "events must have as many runs as tasks"),
        ("interaction", [0], "events must have as many runs as tasks"),
    ):
        wrong = right._replace(**{part: np.array(values)})
        for ask in (worlds.offer, lambda events: worlds.play(events, arms, np.zeros(2, int))):
            with pytest.raises(ValueError, match=message):
                ask(wrong)
    for choices in ([0], [0, 10**9], [-1, 0]):
        with pytest.raises(ValueError, match="choices must"):
            worlds.play(right, arms, np.array(choices))
    three = worlds.offer(Events(np.full(3, 100), np.zeros(3, int), np.zeros(3, int)))
    with pytest.raises(ValueError, match="arms must be those that were offered to 2 events"):
        worlds.play(right, three, np.zeros(3, int))


@pytest.mark.parametrize("name", ["bernoulli", "binomial", "poisson"])
def test_the_name_of_a_family_means_the_family(name):
    named, given = (
        HierarchicalBandit(hierarchy=ARMED, num_tasks=2, rewards=rewards)
        for rewards in (name, FAMILIES[name]())
    )
    assert named.rewards == given.rewards
    assert named.prior.rewards == FAMILIES[name]()
    assert HierarchicalBandit(hierarchy=ARMED, num_tasks=2, rewards="gaussian").prior is ARMED
    cut = HierarchicalBandit(hierarchy=ARMED, num_tasks=2, rewards="linear probability")
    assert cut.prior is ARMED
