"""A look at what workers share finds what is wrong with it."""

import re

import numpy as np
import psycopg
import pytest
from support.shared_stores import OF_FAMILIES, SETTINGS, act, books

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


@pytest.fixture
def clicks(store_url):
    with books(store_url) as (book,):
        for name, kind in (("arms", "clicks"), ("features", "clicks by features")):
            book.put(name, OF_FAMILIES[kind])
            live = book.turns(name).live
            act(live, np.random.default_rng(0), rounds=4)
            book.folder(live).fold()
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


def test_sites_are_sound_also_while_some_are_not_folded(clicks):
    with books(clicks) as (book,):
        act(book.turns("arms").live, np.random.default_rng(1), rounds=1)
    for health, number in zip(check_shared(clicks), (20, 16), strict=True):
        assert (health.rewards, health.faults) == (number, [])
        assert health.difference < 1e-12


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("site_weighted = site_weighted + 1e-6", "sums weighted of a task are not those of its"),
        ("site_precision = site_precision * 1.001", "sums precision of a task are not those of"),
        ("site_precision = -1", "a site has a precision below 0"),
        ("site_precision = NULL", "a reward of a family has no site"),
        ("site_weighted = 'NaN'", "a reward of a family has no site"),
        ("value = 2", "a reward is none of bernoulli rewards: value must be"),
        ("value = 1 - value", "sums xy of a task are not those of its rewards"),
    ],
)
def test_a_site_that_was_tampered_with_is_found(clicks, tmp_path, change, words):
    alter(clicks, f"UPDATE shared_rewards SET {change}")
    faults = doctor(tmp_path, store=clicks).faults
    for policy in ("arms", "features"):
        assert any(re.search(f"'{policy}': .*{words}", fault) for fault in faults), faults


def test_rows_of_tasks_that_were_tampered_with_are_found(clicks, tmp_path):
    alter(clicks, "UPDATE shared_tasks SET sums = overlay(sums placing '\\x3f' from length(sums))")
    faults = doctor(tmp_path, store=clicks).faults
    assert any("are not those of its rewards' sites" in fault for fault in faults), faults


def test_tables_from_before_there_were_sites_are_looked_at_and_brought_up_to_date(shop):
    alter(shop, "ALTER TABLE shared_rewards DROP site_precision, DROP site_weighted")
    alter(shop, "DELETE FROM migrations WHERE number >= 3")
    (health,) = check_shared(shop)
    assert (health.rewards, health.faults) == (20, [])
    with books(shop) as (book,):
        act(book.turns("shop").live, np.random.default_rng(2), rounds=1)
    (health,) = check_shared(shop)
    assert (health.rewards, health.faults) == (24, [])
