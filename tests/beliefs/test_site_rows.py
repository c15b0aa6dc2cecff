"""Rewards and their sites, in rows or as sums."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.interrupts import interrupted, num_places

from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.kernels.site_change import SITE_PARTS


def _rows(armed, adds_up, batches=3, each=5):
    rng, rows = np.random.default_rng(1), SiteRows(2, armed=armed, adds_up=adds_up)
    kept = []
    for _ in range(batches):
        nodes = rng.integers(0, 4, each)
        features = rng.integers(0, 2, each) if armed else rng.normal(size=(each, 2))
        rewards, exposure = rng.integers(0, 3, each).astype(float), 1 + rng.random(each)
        kept.append((nodes, features, rewards, exposure, rng.random((3, each))))
        rows.add(*kept[-1], each)
    return rows, kept


@pytest.mark.parametrize("armed", [False, True])
def test_rows_are_kept_in_order(armed):
    rows, kept = _rows(armed, adds_up=False)
    for got, place in ((rows.nodes, 0), (rows.features, 1), (rows.rewards, 2), (rows.exposure, 3)):
        assert_allclose(got, np.concatenate([part[place] for part in kept]))
    assert_allclose(rows.sites, np.concatenate([part[4] for part in kept], axis=1))
    assert rows.size == rows.num_rewards == 15


def test_rewards_of_an_arm_add_up():
    rows, kept = _rows(armed=True, adds_up=True)
    nodes, arms, rewards, exposure = (np.concatenate([part[i] for part in kept]) for i in range(4))
    sites = np.concatenate([part[4] for part in kept], axis=1)
    assert rows.size == len({*zip(nodes.tolist(), arms.tolist(), strict=True)}) < 15
    assert rows.num_rewards == 15
    for row in range(rows.size):
        mine = (nodes == rows.nodes[row]) & (arms == rows.features[row])
        assert_allclose(rows.rewards[row], rewards[mine].sum())
        assert_allclose(rows.exposure[row], exposure[mine].sum())
        assert_allclose(rows.sites[:, row], sites[:, mine].sum(1))
        assert rows.row_of(int(rows.nodes[row]), int(rows.features[row]), 99.0) == row


@pytest.mark.parametrize("armed", [False, True])
def test_a_reward_is_found_by_all_that_is_known_of_it(armed):
    rows, kept = _rows(armed, adds_up=False)
    nodes, features, rewards, *_ = kept[1]
    row = rows.row_of(int(nodes[2]), features[2], rewards[2])
    same = (rows.nodes == nodes[2]) & (rows.rewards == rewards[2])
    same &= (rows.features == features[2]).reshape(rows.size, -1).all(1)
    assert rows.number_of(int(nodes[2]), features[2], rewards[2]) == same.sum() > 0
    assert rows.nodes[row] == nodes[2]
    assert_allclose(rows.features[row], features[2])
    assert rows.rewards[row] == rewards[2]
    assert rows.row_of(0, features[0], 77.0) == -1
    assert rows.number_of(0, features[0], 77.0) == 0


def test_an_arm_without_rewards_is_not_found():
    rows = SiteRows(2, armed=True, adds_up=True)
    for node in (0, 10**6):
        assert rows.row_of(node, 1, 0.0) == -1


def test_a_copy_is_independent():
    rows, _ = _rows(armed=True, adds_up=True)
    twin, before = rows.copy(), rows.rewards.copy()
    twin.rewards[:] = 0
    assert_allclose(rows.rewards, before)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("site_nodes", 9, "site_nodes must be in"),
        ("site_features", 2, "site_features must be in"),
        ("site_numbers", np.nan, "site_numbers must be finite"),
        ("site_numbers", -1.0, "site_numbers must have positive exposures"),
        ("site_nodes", 0, "site_nodes must have one row for each arm"),
    ],
)
def test_spoilt_files_are_refused(name, value, message):
    rows, _ = _rows(armed=True, adds_up=True)
    arrays = {key: array.copy() for key, array in rows.state().items()}
    sound = SiteRows(2, armed=True, adds_up=True)
    sound._take_state(arrays, 4, 15)
    assert sound.num_rewards == 15
    arrays[name][...] = value
    with pytest.raises(ValueError, match=message):
        SiteRows(2, armed=True, adds_up=True)._take_state(arrays, 4, 15)


@pytest.mark.parametrize("adds_up", [False, True])
def test_rows_that_were_added_half_are_added_once(adds_up):
    rows, kept = _rows(armed=True, adds_up=adds_up)
    after = rows.copy()
    after.add(*kept[0], 5)
    for place in range(num_places(lambda: rows.copy().add(*kept[0], 5))):
        twin = rows.copy()
        if interrupted(lambda: twin.add(*kept[0], 5), MemoryError, place) and (  # noqa: B023
            twin.num_rewards == rows.num_rewards
        ):
            twin.add(*kept[0], 5)
        assert twin.num_rewards == after.num_rewards
        for name, values in after.state().items():
            assert_allclose(twin.state()[name], values, rtol=0)


@pytest.mark.parametrize("adds_up", [True, False])
def test_the_rows_of_the_last_rewards_match_again(adds_up):
    rows = SiteRows(3, armed=True, adds_up=adds_up)
    nodes, arms = np.array([0, 1, 1, 2]), np.array([2, 0, 1, 2])
    rows.add(nodes, arms, np.ones(4), np.ones(4), np.ones((SITE_PARTS, 4)), 4)
    rows.add(nodes[1:2], arms[1:2], np.ones(1), np.ones(1), np.zeros((SITE_PARTS, 1)), 1)
    seen = []

    def match(own, features, rewards, exposure, sites, furthest):
        furthest[:] = 0.25
        seen.append((own.tolist(), features.tolist(), rewards.tolist()))
        sites[:] += 5.0

    before = rows.sites.copy()
    assert (rows.match_again(rows.of_nodes(rows.news), match, np.zeros((2, 1))) == 0.25).all()
    assert (rows.moved == 0.25).all()
    assert seen == [([1, 1], [0, 1], [2, 1]) if adds_up else ([1, 1, 1], [0, 1, 0], [1, 1, 1])]
    np.testing.assert_array_equal(rows.sites - before, 5.0 * (rows.nodes == 1) * np.ones((3, 1)))
    assert rows.news is None
    rows.tell(2)
    rows.tell(0)
    assert rows.news.tolist() == [2, 0]


def test_an_interrupted_match_is_ended_or_begins_anew():
    rows = SiteRows(3, armed=True, adds_up=True)
    rows.add(np.array([1]), np.array([2]), np.ones(1), np.ones(1), np.ones((SITE_PARTS, 1)), 1)

    def early(*_, **__):
        raise KeyboardInterrupt

    def late(own, features, rewards, exposure, sites, furthest):
        sites[:] = 7.0
        raise KeyboardInterrupt

    for match, site, is_left in ((early, 1.0, True), (late, 7.0, False)):
        with pytest.raises(KeyboardInterrupt):
            rows.match_again(rows.of_nodes(rows.news), match, np.zeros((2, 1)))
        rows.end_match()
        assert (rows.sites == site).all()
        assert (rows.news is not None) == is_left


def test_only_the_newest_rows_match_again_where_rewards_do_not_add_up(monkeypatch):
    monkeypatch.setattr("hierbandits.beliefs.site_rows.NEWEST", 4)
    rows = SiteRows(1, armed=False, adds_up=True)
    nodes = np.array([1, 0, 1, 0, 1, 0])
    rows.add(nodes, np.ones((6, 1)), np.ones(6), np.ones(6), np.ones((SITE_PARTS, 6)), 6)
    assert rows.of_nodes(np.array([1])).tolist() == [2, 4]
