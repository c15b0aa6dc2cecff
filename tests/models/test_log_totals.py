"""The totals by which a log is known: no order changes them, and another log has others."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierbandits import TaskSums
from hierbandits.models.log_totals import LogTotals


def _rows(rng, armed, rows=60, tasks=4, dim=3):
    features = rng.integers(0, dim, rows) if armed else rng.normal(size=(rows, dim))
    return rng.integers(0, tasks, rows), features, rng.normal(size=rows)


def _sums(tasks, features, rewards, dim=3):
    sums = TaskSums.zeros(4, dim, armed=features.ndim == 1)
    sums.add(tasks, features, rewards)
    return sums


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_order_matters(seed, armed):
    rng = np.random.default_rng(seed)
    tasks, features, rewards = _rows(rng, armed)
    totals = _sums(tasks, features, rewards).totals()
    rows, renamed = rng.permutation(rewards.size), rng.permutation(4)
    places = rng.permutation(3)
    other = places[features] if armed else features[:, places]
    again = _sums(renamed[tasks][rows], other[rows], rewards[rows]).totals()
    assert totals.same_log(again)
    assert again.same_log(totals)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_another_log_is_told_apart(seed, armed):
    rng = np.random.default_rng(seed)
    tasks, features, rewards = _rows(rng, armed)
    totals = _sums(tasks, features, rewards).totals()
    fewer = _sums(tasks[1:], features[1:], rewards[1:]).totals()
    moved = _sums(tasks, features, rewards + 0.01).totals()
    turned = _sums(tasks, features, np.roll(rewards, 1)).totals()
    assert not totals.same_log(fewer)
    assert not totals.same_log(moved)
    assert not totals.same_log(turned)
    if not armed:
        assert not totals.same_log(_sums(tasks, 1.01 * features, rewards).totals())


def test_rewards_that_cancel_are_still_the_same_log():
    rewards = np.random.default_rng(0).normal(size=40)
    rewards -= rewards.mean()  # X'Y is all rounding
    tasks, features = np.zeros(40, int), np.zeros(40, int)
    one = _sums(tasks, features, rewards).totals()
    other = _sums(tasks, features, np.sort(rewards)).totals()
    assert one.same_log(other)


def test_totals_are_kept_in_json():
    totals = _sums(*_rows(np.random.default_rng(1), False)).totals()
    assert LogTotals.from_dict(json.loads(json.dumps(totals.to_dict()))) == totals
    none = _sums(np.empty(0, int), np.empty((0, 3)), []).totals()
    assert LogTotals.from_dict(json.loads(json.dumps(none.to_dict()))) == none
    parts = totals.to_dict()
    for wrong in ({}, {"n": 1}, [1, 2, 3], parts | {"n": "many"}, parts | {"coordinates": [[1]]}):
        with pytest.raises(ValueError, match="learned_from"):
            LogTotals.from_dict(wrong)


@pytest.mark.parametrize("arms", [2, 3])
def test_balanced_logs_of_clicks_are_told_apart(arms):
    """Integers leave few values to a sum, and a balanced design fewer still."""
    rng, seen = np.random.default_rng(0), []
    tasks, played = np.divmod(np.arange(60), 15)[0], np.arange(60) % arms
    for _ in range(300):
        clicks = rng.permutation(np.arange(60) % 2).astype(float)
        seen.append(_sums(tasks, played, clicks, arms).totals())
    same = sum(one.same_log(seen[0]) for one in seen[1:])
    assert same == 0
    pairs = [(a, b) for a in range(300) for b in range(a)]
    assert sum(seen[a].same_log(seen[b]) for a, b in pairs) <= len(pairs) / 1000
