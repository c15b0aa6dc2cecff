"""Sites that are matched no more: what a belief keeps of its oldest rewards."""

import numpy as np
import pytest
from support.click_logs import click_log
from support.states import belief_state

import hierbandits as hb
from hierbandits.beliefs import site_rows
from hierbandits.beliefs.settled_sites import SettledSites


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(site_rows, "MOST_ROWS", 300)


def _linear(log):
    prior = hb.GaussianHierarchy.linear(3, hyper_std=1.5, task_std=0.6, noise_std=1.0)
    return hb.MatchedBelief(hb.GeneralizedHierarchy(prior, "bernoulli"), len(log.theta))


def _taught(log, batch=50):
    belief = _linear(log)
    for start in range(0, log.tasks.size, batch):
        rows = slice(start, start + batch)
        belief.observe(log.tasks[rows], log.features[rows], log.rewards[rows])
        belief.refit()
    return belief


def test_rows_are_bounded_and_little_is_lost(few_rows):
    log = click_log(1, armed=False, rows=45)
    bounded = _taught(log)
    assert bounded._told_rows.size <= 300
    assert bounded._told_rows.size + bounded._told_rows.settled.number == log.tasks.size
    whole = _linear(log)
    site_rows.MOST_ROWS = 10**9
    whole.observe(log.tasks, log.features, log.rewards)
    whole.refit()
    assert whole._told_rows.size == log.tasks.size
    for node in (0, 11, int(whole.roots[0])):
        std = whole.task(node).std
        assert (np.abs(bounded.task(node).mean - whole.task(node).mean) < 0.1 * std).all()
        np.testing.assert_allclose(bounded.task(node).std, std, rtol=0.07)


def test_a_belief_with_settled_sites_is_saved_and_copied(few_rows):
    log = click_log(2, armed=False, rows=30)
    belief = _taught(log)
    again = hb.MatchedBelief.from_state(*belief.state())
    assert belief_state(again) == belief_state(belief)
    twin = belief.copy()
    for each in (belief, again, twin):
        each.observe(log.tasks[:200], log.features[:200], log.rewards[:200])
        each.refit()
    assert belief_state(again) == belief_state(belief) == belief_state(twin)


def test_an_old_reward_is_corrected_as_a_new_one_is(few_rows):
    log = click_log(3, armed=False, rows=40)
    right = log.rewards.copy()
    places = [0, 7, 30, log.tasks.size - 1]
    right[places] = 1 - right[places]
    belief, other = _taught(log), _linear(log)
    assert belief._told_rows.settled.number > 30
    for place in places:
        x = log.features[place]
        belief.revise(int(log.tasks[place]), x, log.rewards[place], right[place])
    other.observe(log.tasks, log.features, right)
    for node in {*log.tasks[places].tolist(), int(other.roots[0])}:
        std = other.task(node).std
        assert (np.abs(belief.task(node).mean - other.task(node).mean) < 0.3 * std).all()
        np.testing.assert_allclose(belief.task(node).std, std, rtol=0.1)


def test_tilts_of_settled_sites_are_added_and_put_back():
    for armed, x in ((True, 1), (False, np.array([0.5, -2.0]))):
        settled = SettledSites(2, armed=armed)
        assert settled.number_of(3) == 0
        settled.keep(np.array([3]))()  # nothing is kept of nothing
        rows = np.array([1, 1]) if armed else np.ones((2, 2))
        settled.add(np.array([3, 3]), rows, np.ones((3, 2)))
        before = settled.sums(5)
        assert (settled.number_of(3), settled.number_of(2), settled.number_of(9)) == (2, 0, 0)
        put_back = settled.keep(np.array([3, 9]))
        settled.tilt(3, x, 1.5)
        moved = settled.sums(5).xy[3] - before.xy[3]
        np.testing.assert_allclose(moved, [0.0, 1.5] if armed else [0.75, -3.0])
        put_back()
        np.testing.assert_array_equal(settled.sums(5).xy, before.xy)


def test_an_agent_forgets_a_task_whose_sites_are_settled(few_rows):
    agent = hb.Agent(num_features=2, rewards="bernoulli", seed=0)
    rng = np.random.default_rng(0)
    tasks, x = [f"s{i % 4}" for i in range(500)], rng.normal(size=(500, 2))
    for start in range(0, 500, 100):
        rows = slice(start, start + 100)
        agent.learn(tasks[rows], x[rows], (rng.random(100) < 0.3).astype(float))
    assert agent.belief._told_rows.settled.number > 0
    agent.forget("s2")
    kept = agent.belief._told_rows
    assert kept.size + kept.settled.number == 375
    assert agent.belief.num_rewards.sum() == 375


@pytest.mark.parametrize("armed", [True, False])
def test_sums_are_those_of_the_sites(armed):
    rng, number = np.random.default_rng(4), 30
    nodes = rng.integers(0, 5, number)
    features = rng.integers(0, 3, number) if armed else rng.normal(size=(number, 3))
    vectors = np.eye(3)[features] if armed else features
    sites = rng.random((3, number))
    settled = SettledSites(3, armed=armed)
    for part in np.split(np.arange(number), 3):
        settled.add(nodes[part], features[part], sites[:, part])
    sums = settled.sums(6)
    for node in range(6):
        x, (a, b, _) = vectors[nodes == node], sites[:, nodes == node]
        expected = (x.T * a) @ x
        np.testing.assert_allclose(sums.xx[node], np.diag(expected) if armed else expected)
        np.testing.assert_allclose(sums.xy[node], b @ x, atol=1e-12)
        assert sums.n[node] == (nodes == node).sum()
    moved = settled.moved(np.array([3, 1]), np.array([0, 7]), 4 if armed else 3).sums(8)
    np.testing.assert_array_equal(moved.xy[7, :3], sums.xy[1])
    assert moved.n.sum() == sums.n[[1, 3]].sum()


def test_damaged_sums_are_refused():
    settled = SettledSites(2, armed=False)
    settled.add(np.array([0]), np.ones((1, 2)), np.ones((3, 1)))
    for name, value in (("settled_n", [[0.5]]), ("settled_xx", [[[1.0, 2.0], [0.0, 1.0]]])):
        state = settled.state()
        state[name] = np.array(value).reshape(state[name].shape)
        with pytest.raises(ValueError, match="settled_"):
            SettledSites(2, armed=False)._take_state(state, 1)
    state = settled.state()
    state["settled_xx"] = -state["settled_xx"]
    with pytest.raises(ValueError, match="settled_xx must be sums of squares"):
        SettledSites(2, armed=False)._take_state(state, 1)
