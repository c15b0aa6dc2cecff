"""Beliefs on grids: their laws, and what is exact about them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from support.grid_worlds import KINDS, all_moments, random_events, random_prior, told
from support.states import belief_state

import hierbandits as hb
from hierbandits.models.reward_family import LARGEST_COUNT

each_kind = pytest.mark.parametrize("kind", KINDS)
TASKS = 5


def _belief(kind, seed=0, number=80, **options):
    """A belief that has learned something, with its prior and events."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, kind, **options)
    events = random_events(rng, prior, TASKS, number)
    return told(hb.GridBelief(prior, TASKS), events), prior, events


@each_kind
def test_the_order_of_rewards_does_not_matter(kind):
    for resolution, tolerance in ((32, 2e-4), (96, 1e-9)):
        one, prior, events = _belief(kind, resolution=resolution)
        other, order = hb.GridBelief(prior, TASKS), np.random.default_rng(1).permutation(80)
        for rows in np.array_split(order, 13):
            told(other, events, rows)
        scale = np.sqrt(all_moments(one)[1:].sum(0))
        far = np.abs(all_moments(one) - all_moments(other)) / np.stack([scale, scale**2, scale**2])
        assert far.max() < tolerance
        assert_allclose(one.log_evidence(), other.log_evidence(), rtol=tolerance)
        assert_allclose(one._nodes.state, other._nodes.state, rtol=1e-12)


@each_kind
def test_within_a_batch_the_order_changes_rounding_alone(kind):
    one, prior, events = _belief(kind)
    other = told(hb.GridBelief(prior, TASKS), events, np.random.default_rng(1).permutation(80))
    assert_allclose(all_moments(one), all_moments(other), rtol=1e-9)
    assert_allclose(one.log_evidence(), other.log_evidence(), rtol=1e-9)


@each_kind
def test_no_rewards_give_the_prior(kind):
    prior = random_prior(np.random.default_rng(3), kind, resolution=64)
    belief, rng = hb.GridBelief(prior, 2), np.random.default_rng(0)
    assert_allclose(belief.log_evidence(), 0.0, atol=1e-9)
    x = rng.normal(prior.hyper_mean, prior.hyper_std, (400_000, 2))
    means = np.exp(x) if kind == "gamma" else 1 / (1 + np.exp(-x))
    assert_allclose(belief.hyper().mean, means.mean(0), atol=6 * means.std(0).max() / 600)
    assert_allclose(belief.task(0).mean, belief.hyper().mean, rtol=1e-8)
    cells = belief.hyper_cells(1)
    assert_allclose(cells.weight.sum(), 1.0)
    assert_allclose((cells.weight * np.log(cells.task_std)).sum(), np.log(prior.task_std[1]))


@each_kind
def test_arms_and_populations_are_apart(kind):
    rng = np.random.default_rng(4)
    prior = random_prior(rng, kind, 3)
    belief = hb.GridBelief(prior, 2, 3)
    before = all_moments(belief)
    belief.observe([2, 3, 3], [1, 1, 1], [1.0, 0.0, 1.0])  # of the second population
    changed = (all_moments(belief) != before).any(0).reshape(-1, 3)
    assert changed[[2, 3, belief.roots[1]], 1].all()
    changed[[2, 3, belief.roots[1]], 1] = False
    assert not changed.any()
    assert belief.num_rewards.tolist() == [0, 3, 0]
    assert (belief.log_evidence() < -1e-6).tolist() == [False, True, False]


@each_kind
def test_tasks_added_later_are_as_those_that_were_there(kind):
    one, prior, events = _belief(kind)
    other = hb.GridBelief(prior)
    assert other.add(0, TASKS).tolist() == list(range(1, TASKS + 1))
    tasks, arms, rewards, exposure = events
    other.observe(tasks + 1, arms, rewards, exposure=exposure)
    assert_allclose(other.task(1).mean, one.task(0).mean, rtol=1e-12)
    assert_allclose(other.hyper().cov, one.hyper().cov, rtol=1e-12)
    listed = hb.GridBelief(prior, population=[0] * TASKS)
    assert belief_state(told(listed, events)) == belief_state(one)


def _shared(belief, kind, arm, *tasks):
    """The covariance of two tasks' parameters, by the cells."""
    cells = belief.hyper_cells(arm)
    u, m, means = cells.task_std**-2, cells.mean, []
    for had, over in belief._nodes.state[list(tasks), :, arm]:
        a, b = (u / (1 - m), u / m) if kind == "beta" else (u, u / m)
        means.append((a + had) / (a + b + over) if kind == "beta" else (a + had) / (b + over))
    centres = [(cells.weight * mean).sum() for mean in means]
    return (cells.weight * (means[0] - centres[0]) * (means[1] - centres[1])).sum()


@each_kind
def test_draws_have_the_posterior_moments(kind):
    belief, _, _ = _belief(kind)
    rng, size = np.random.default_rng(5), 40_000
    nodes = [0, 3, int(belief.roots[0])]
    theta, slots = belief._raw_draws(rng, np.array(nodes), repeats=size)
    draws = theta[slots].reshape(size, 3, 2)
    for place, node in enumerate(nodes):
        known = belief.task(node)
        assert_allclose(draws[:, place].mean(0), known.mean, atol=6 * known.std.max() / size**0.5)
        fourth = ((draws[:, place] - known.mean) ** 4).mean(0)
        off = (draws[:, place].var(0) - known.std**2) / np.sqrt(fourth / size)
        assert np.abs(off).max() < 6
    both = (draws[:, 0] - draws[:, 0].mean(0)) * (draws[:, 1] - draws[:, 1].mean(0))
    shared = [_shared(belief, kind, arm, 0, 3) for arm in (0, 1)]  # they share hyper-parameters
    assert_allclose(both.mean(0), shared, atol=6 * both.std(0).max() / size**0.5)
    assert (np.abs(shared) > 8 * both.std(0) / size**0.5).any()
    fresh, own = belief._raw_draws(rng, np.array([0, 3]), repeats=size, fresh=True)
    apart = fresh[own].reshape(size, 2, 2)
    both = (apart[:, 0] - apart[:, 0].mean(0)) * (apart[:, 1] - apart[:, 1].mean(0))
    assert (np.abs(both.mean(0)) < 5 * both.std(0) / size**0.5).all()
    means, row = belief._raw_draws(None, np.array([3]))
    assert_allclose(means[row[0]], belief.task(3).mean, rtol=1e-12)


@each_kind
def test_a_corrected_reward_is_as_if_it_had_been_right(kind):
    belief, prior, (tasks, arms, rewards, exposure) = _belief(kind, resolution=96)
    rng = np.random.default_rng(6)
    for place in rng.permutation(np.flatnonzero(exposure == 1))[:12]:
        new = float(rng.integers(2)) if kind == "beta" else float(rng.integers(12))
        belief.revise(int(tasks[place]), arms[place], rewards[place], new)
        rewards[place] = new
    other = told(hb.GridBelief(prior, TASKS), (tasks, arms, rewards, exposure))
    assert_allclose(all_moments(belief), all_moments(other), rtol=1e-7)
    assert_allclose(belief.log_evidence(), other.log_evidence(), rtol=1e-9)
    assert_allclose(belief._nodes.state, other._nodes.state)


@each_kind
def test_sums_teach_what_their_events_teach(kind):
    rng = np.random.default_rng(7)
    prior = random_prior(rng, kind, resolution=96)
    events = random_events(rng, prior, TASKS, sized=False)
    one, sums = told(hb.GridBelief(prior, TASKS), events), hb.TaskSums.zeros(TASKS, 2, armed=True)
    sums.add(*events[:3])
    other = hb.GridBelief(prior, TASKS)
    other.check_past(TASKS, sums)
    other._raw_learn_past(np.arange(TASKS), sums)
    assert_allclose(all_moments(other), all_moments(one), rtol=1e-7)
    if kind == "beta":
        assert_allclose(other.log_evidence(), one.log_evidence(), rtol=1e-9)
    sums.xy[0, 0] += 0.5
    with pytest.raises(ValueError, match=r"sums\.xy must be"):
        hb.GridBelief(prior, TASKS).check_past(TASKS, sums)
    with pytest.raises(ValueError, match="sums must be learned before all rewards"):
        one.check_past(TASKS, sums)


@each_kind
def test_a_saved_belief_goes_on_bit_for_bit(kind, tmp_path):
    belief, prior, _ = _belief(kind)
    belief.save(tmp_path / "belief")
    twins = (
        hb.GridBelief.load(tmp_path / "belief"),
        belief.copy(),
        pickle.loads(pickle.dumps(belief)),
    )
    for twin in twins:
        assert belief_state(twin) == belief_state(belief)
    more = random_events(np.random.default_rng(8), prior, TASKS)
    place = int(np.flatnonzero((more[3] == 1) & (more[2] == 0))[0])
    for one in (belief, *twins):
        told(one, more)
        one.revise(int(more[0][place]), more[1][place], more[2][place], 1.0)
        one.add(int(one.roots[0]), 2)
    for twin in twins:
        assert belief_state(twin) == belief_state(belief)
        draws = [b.sample(np.random.default_rng(0), [0, 1]) for b in (twin, belief)]
        np.testing.assert_array_equal(*draws)


BAD = [
    ([0, 1], [0, 1], [0.0, -1.0], {}, "rewards must be"),
    ([0, 1], [0, 1], [0.0, 0.5], {}, "rewards must be"),
    ([0, 1], [0, 1], [0.0, np.nan], {}, "rewards must be finite"),
    ([0, 1], [0, 1], [0.0], {}, "rewards must have shape"),
    ([0, 9], [0, 1], [0.0, 1.0], {}, "tasks must be in"),
    ([0, 5], [0, 1], [0.0, 1.0], {}, "tasks must be nodes of tasks, got node 5"),
    ([0, 1], [0, 2], [0.0, 1.0], {}, "features must be in"),
    ([0, 1], [0], [0.0, 1.0], {}, "features must have shape"),
    ([0, 1], [0, 1], [0.0, 1.0], {"noise_std": [1.0, 1.0]}, "noise_std must not be given"),
    ([0, 1], [0, 1], [0.0, 1.0], {"exposure": [1.0, 0.0]}, "exposure must be positive"),
    ([0, 1], [0, 1], [0.0, 1.0], {"exposure": [1.0]}, "exposure must have shape"),
    ([0, 1], [0, 1], [0.0, 0.0], {"exposure": [1.0, 1e10]}, "exposure must be in"),
    ([0, 1], [0, 1], [0.0, 1.0], {"time": [1.0]}, "time must have shape"),
]  # fmt: skip


@each_kind
@pytest.mark.parametrize(("tasks", "arms", "rewards", "options", "message"), BAD)
def test_a_bad_batch_changes_nothing(kind, tasks, arms, rewards, options, message):
    belief, _, _ = _belief(kind)
    before = belief_state(belief)
    with pytest.raises(ValueError, match=message):
        belief.observe(tasks, arms, rewards, **options)
    assert belief_state(belief) == before


def test_rewards_that_a_model_cannot_have_are_named():
    clicks, counts = hb.GridBelief(hb.BetaHierarchy(2), 1), hb.GridBelief(hb.GammaHierarchy(2), 1)
    with pytest.raises(ValueError, match=r"rewards must be numbers of succ.*got 2$"):
        clicks.observe([0], [0], [2.0])
    with pytest.raises(ValueError, match="exposure must be whole numbers of trials"):
        clicks.observe([0], [0], [1.0], exposure=[2.5])
    with pytest.raises(ValueError, match="rewards must be at most 1e"):
        counts.observe([0], [0], [2 * LARGEST_COUNT])
    with pytest.raises(ValueError, match="value must be counts"):
        counts.check_rewards("value", -1.0)
    clicks.observe([0], [0], [3.0], exposure=[5.0])
    counts.observe([0], [0], [2.0], exposure=[0.25])
    assert clicks._nodes.state[0, :, 0].tolist() == [3.0, 5.0]


@each_kind
def test_corrections_that_cannot_be_are_refused(kind):
    belief = hb.GridBelief(KINDS[kind](2), 2)
    belief.observe([0, 0], [0, 0], [1.0, 0.0])
    before = belief_state(belief)
    for task, arm, old, new, message in (
        (1, 0, 1.0, 0.0, "old_reward must be one that the task has had"),
        (0, 1, 0.0, 1.0, "old_reward must be one that the task has had"),
        (0, 0, 0.5, 1.0, "rewards must be"),
        (2, 0, 1.0, 0.0, "tasks must be nodes of tasks"),
        (0, 5, 1.0, 0.0, "features must be in"),
    ):
        with pytest.raises(ValueError, match=message):
            belief.revise(task, arm, old, new)
    assert belief_state(belief) == before


def test_what_is_no_prior_of_it_is_refused():
    prior = hb.BetaHierarchy(2)
    for wrong in (None, hb.UnknownWidths.of(2, armed=True), 3):
        with pytest.raises(ValueError, match="prior must be a BetaHierarchy or GammaHierarchy"):
            hb.GridBelief(wrong, 2)
    with pytest.raises(ValueError, match="hyper_means must not be given"):
        hb.GridBelief(prior, 2, 1, np.zeros((1, 2)))
    with pytest.raises(ValueError, match="num_tasks must have one count"):
        hb.GridBelief(prior, (2, 3))
    with pytest.raises(ValueError, match="num_tasks must not come with population"):
        hb.GridBelief(prior, 2, population=[0, 0])
    with pytest.raises(ValueError, match="parent must be above the level of tasks"):
        hb.GridBelief(prior, 2).add(0)
    with pytest.raises(ValueError, match="arm must be in"):
        hb.GridBelief(prior, 2).hyper_cells(2)


@each_kind
def test_intervals_hold_what_their_probability_says(kind):
    belief, _, _ = _belief(kind, seed=9)
    nodes, arms = np.array([0, 1, 4]), np.array([0, 1, 1])
    linear = belief.predict(nodes, arms)
    low, high = belief._raw_interval(nodes, arms, linear, stats.norm.ppf(0.95))
    draws, slots = belief._raw_draws(np.random.default_rng(0), nodes, repeats=40_000)
    theta = draws[slots].reshape(-1, 3, 2)[:, [0, 1, 2], arms]
    assert_allclose((theta < low).mean(0), 0.05, atol=6 * (0.05 / 40_000) ** 0.5 + 1e-3)
    assert_allclose((theta > high).mean(0), 0.05, atol=6 * (0.05 / 40_000) ** 0.5 + 1e-3)


def test_put_back_is_as_before():
    for kind in KINDS:
        belief, _, (tasks, arms, rewards, exposure) = _belief(kind)
        before, place = belief_state(belief), int(np.flatnonzero(exposure == 1)[0])
        put_back = belief._raw_keep(tasks[[place]])
        belief.revise(int(tasks[place]), arms[place], rewards[place], 1 - min(1, rewards[place]))
        assert belief_state(belief) != before
        moments = all_moments(belief)
        put_back()
        assert belief_state(belief) == before
        assert not np.array_equal(all_moments(belief), moments)
