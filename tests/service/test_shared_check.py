"""A look at what workers share finds what is wrong with it."""

import re

import numpy as np
import psycopg
import pytest
from support.shared_stores import SETTINGS, act, books

from hierbandits.service.doctor import doctor
from hierbandits.service.shared_check import check_shared
from hierbandits.service.store_url import SCHEMA


@pytest.fixture
def shop(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        act(live, np.random.default_rng(0), rounds=4)
        book.folder(live).fold()
        act(live, np.random.default_rng(1), rounds=1)
        yield store_url


def alter(url, sql):
    with psycopg.connect(url, options=f"-c search_path={SCHEMA}") as db:
        db.execute(sql)


def test_what_is_sound_is_found_so_also_while_some_is_not_folded(shop, tmp_path):
    (health,) = check_shared(shop)
    assert (health.name, health.version, health.decisions, health.rewards) == ("shop", 1, 20, 20)
    assert health.faults == []
    assert health.dirty > 0
    assert health.difference < 1e-12
    report = doctor(tmp_path, store=shop)
    assert report.is_sound
    assert [(one.name, one.rewards) for one in report.policies] == [("shop", 20)]


def test_a_store_without_shared_policies_has_none(store_url):
    assert list(check_shared(store_url)) == []


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE shared_rewards SET value = value + 1", "sums .* are not those of its rewards"),
        ("DELETE FROM shared_tasks WHERE task = '\"t1\"'", "rewards must be of tasks"),
        ("UPDATE shared_tasks SET dirty = false", "not dirty has rewards that are not folded"),
        ("UPDATE shared_generations SET rewards = 3", "generation has 3 rewards, but 16 are"),
        (
            "UPDATE shared_generations SET told = overlay(told placing '\\x4059' from 7 for 2)",
            "hyper-posterior differs",
        ),
        ("DELETE FROM shared_generations", "it has no generation"),
    ],
)
def test_what_is_wrong_is_named(shop, tmp_path, sql, words):
    alter(shop, sql)
    faults = doctor(tmp_path, store=shop).faults
    assert faults
    assert any(re.search(words, fault) for fault in faults), faults
