"""A look at what workers share finds what is wrong with it."""

import re

import numpy as np
import psycopg
import pytest
from support.exact_messages import exact_hyper, standard_error
from support.shared_stores import FEATURES, OF_FAMILIES, SETTINGS, act, books

import hierbandits as hb
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service.doctor import doctor
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_check import check_shared
from hierbandits.service.store_url import SCHEMA
from hierbandits.service.wire import DecisionRequest


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


def test_rewards_that_are_all_the_same_are_sound(store_url):
    with books(store_url) as (book,):
        book.put("shop", PolicySettings(arms=["a", "b", "c"]))
        live = book.turns("shop").live
        for round_ in range(40):
            tasks = [DecisionRequest(f"t{(5 * round_ + i) % 31}") for i in range(16)]
            live.reward([(one.id, 1.0) for one in live.decide(tasks)])
            book.folder(live).fold()
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (640, [])


@pytest.mark.parametrize(
    "prior",
    [
        hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_std=1e-8, noise_std=0.75),
        hb.GaussianHierarchy(
            hyper_mean=[0, 0], hyper_cov=np.eye(2), task_cov=np.diag([1e-18, 1.0]), noise_std=0.75
        ),
    ],
    ids=["arms", "features"],
)
def test_narrow_tasks_are_folded_with_all_digits(store_url, prior):
    arms = ["a", "b", "c"] if prior.is_armed else FEATURES
    with books(store_url) as (book,):
        book.put("shop", PolicySettings(arms=arms, prior=model_to_dict(prior), draws=10))
        live = book.turns("shop").live
        events = []
        for seed in range(4):
            events += act(live, np.random.default_rng(seed), rounds=3)
            book.folder(live).fold()
        live.refresh()
        known = hb.merge_contributions(prior, [live.generation.told])
    tasks = sorted({task for task, *_ in events})
    sums = hb.TaskSums.zeros(len(tasks), prior.dim, armed=prior.is_armed)
    sums.add([tasks.index(task) for task, *_ in events], *([e[i] for e in events] for i in (1, 2)))
    assert standard_error(known, exact_hyper(prior, sums)) < 1e-12
    (health,) = check_shared(store_url)
    assert (health.faults, health.rewards) == ([], 48)
    assert health.difference < 1e-12


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


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE shared_tasks SET sums = '\\x00'", "the sums of a task cannot be read"),
        ("UPDATE shared_decisions SET data = '{'", "decision b'.*' cannot be read"),
        ("UPDATE shared_versions SET settings = 'nope'", "its version 1 cannot be read"),
        ("UPDATE shared_generations SET hierarchy = '{}'", "its newest generation cannot be read"),
        ("UPDATE shared_generations SET told = '\\x0000'", "its newest generation cannot be read"),
        ("UPDATE shared_tasks SET task = '\"zz\"'", "a task has another name"),
        ("UPDATE shared_tasks SET task = '\\xff'", "a task has another name"),
        ("UPDATE shared_decisions SET id = 'x' || id", "rewards must be of tasks"),
        (
            "UPDATE shared_decisions SET data = convert_to(regexp_replace(convert_from(data, "
            "'UTF8'), '\"propensity\":[0-9.]+', '\"propensity\":1.5'), 'UTF8')",
            "a decision has a propensity that is none",
        ),
        (
            "UPDATE shared_decisions SET data = convert_to(replace(convert_from(data, 'UTF8'), "
            "'\"policy_version\":1', '\"policy_version\":7'), 'UTF8')",
            "a decision has a version that there is not",
        ),
    ],
)
def test_a_row_that_is_damaged_is_named_and_other_policies_are_looked_at(
    shop, tmp_path, sql, words
):
    mine = "(SELECT id FROM shared_policies WHERE name = 'another')"
    with books(shop) as (book,):
        book.put("another", SETTINGS["armed"])
        live = book.turns("another").live
        act(live, np.random.default_rng(0), rounds=4)
        book.folder(live).fold()
    alter(shop, f"{sql} WHERE policy = {mine}")
    report = doctor(tmp_path, store=shop)
    assert [(one.name, one.rewards, one.events) for one in report.policies] == [
        ("another", 16, 32), ("shop", 20, 40),
    ]  # fmt: skip
    assert all(fault.startswith("shared policy 'another': ") for fault in report.faults)
    assert any(re.search(words, fault) for fault in report.faults), report.faults


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
    later = "DROP provisional, DROP site_precision, DROP site_weighted"
    alter(shop, f"ALTER TABLE shared_rewards {later}")
    alter(
        shop,
        "DROP TABLE shared_evaluations, shared_histories, shared_waits, shared_changes, "
        "shared_rollouts, shared_metrics",
    )
    alter(shop, "DELETE FROM migrations WHERE number >= 3")
    (health,) = check_shared(shop)
    assert (health.rewards, health.faults) == (20, [])
    with books(shop) as (book,):
        act(book.turns("shop").live, np.random.default_rng(2), rounds=1)
    (health,) = check_shared(shop)
    assert (health.rewards, health.faults) == (24, [])
