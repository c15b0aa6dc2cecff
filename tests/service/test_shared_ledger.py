"""Decisions and rewards that many workers take: each once, whoever of them is told."""

import threading

import numpy as np
import pytest
from support.half_deletions import half_deleted, outcome_meanwhile, wait_for_a_lock
from support.postgres_servers import database_of
from support.shared_stores import SETTINGS, act, books, reward_at_once

from hierbandits.service.api_problem import PolicyGone
from hierbandits.service.shared_check import check_shared
from hierbandits.service.store_url import StoreUrl
from hierbandits.service.wire import DecisionRequest


@pytest.fixture
def lives(store_url):
    with books(store_url, 2) as both:
        both[0].put("shop", SETTINGS["armed"])
        yield [book.turns("shop").live for book in both]


def statuses(told):
    return [getattr(one, "status", one) for one in told]


def test_a_reward_is_learned_once_and_another_value_is_a_conflict(lives, store_url):
    one, two = lives
    made = one.decide([DecisionRequest("t"), DecisionRequest("u", id="mine")])
    ids = [reply.id for reply in made]
    assert statuses(two.reward([(ids[0], 1.0), (ids[1], 2.0)])) == ["learned"] * 2
    assert statuses(one.reward([(ids[0], 1.0), (ids[1], 3.0)])) == ["duplicate", 409]
    assert statuses(one.reward([("none", 1.0), (ids[0], 1.0)])) == [404, "duplicate"]
    assert one.view.decision("mine")["reward"] == 2.0
    (health,) = check_shared(store_url)
    assert (health.decisions, health.rewards, health.faults) == (2, 2, [])


def test_the_same_reward_twice_in_one_request_counts_once(lives, store_url):
    live = lives[0]
    (made,) = live.decide([DecisionRequest("t")])
    told = live.reward([(made.id, 1.0), (made.id, 1.0), (made.id, 2.0)])
    assert statuses(told) == ["learned", "duplicate", 409]
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (1, [])


def test_a_correction_replaces_a_reward_however_large_it_was(lives, store_url):
    one, two = lives
    made = one.decide([DecisionRequest("t") for _ in range(4)])
    assert one.correct(made[0].id, 1.0).code == "no_reward_yet"
    one.reward([(reply.id, 0.1) for reply in made[1:]] + [(made[0].id, 1e12)])
    assert two.correct(made[0].id, 0.1).status == "corrected"
    assert two.correct(made[0].id, 0.1).status == "duplicate"
    assert two.correct("none", 0.1).status == 404
    assert statuses(one.reward([(made[0].id, 0.1)])) == ["duplicate"]
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (4, [])


def test_of_two_workers_that_decide_the_same_id_the_second_finds_the_first(lives):
    one, two = lives
    (made,) = one.decide([DecisionRequest("t", id="mine")])
    (again,) = two.decide([DecisionRequest("t", id="mine")])
    assert again.duplicate
    assert (again.arm, again.propensity) == (made.arm, made.propensity)
    (other,) = two.decide([DecisionRequest("u", id="mine")])
    assert (other.status, other.code) == (409, "id_taken")
    # Both have looked before either has stored.
    look, looks = two.view.made, []
    two.view.made = lambda ids: look(ids) if looks else looks.append(ids) or {}
    (late,) = two.decide([DecisionRequest("t", id="mine")])
    assert late.duplicate
    assert late.arm == made.arm


def test_a_reward_that_waits_while_its_task_is_deleted_is_of_no_decision(lives, store_url):
    live, told = lives[0], []
    (made,) = live.decide([DecisionRequest("t")])
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"
    name = database_of(store_url)
    with StoreUrl(store_url).connect() as db, StoreUrl(store_url).connect() as other:
        db.execute("BEGIN")
        db.execute("DELETE FROM shared_tasks")
        db.execute("DELETE FROM shared_decisions")
        thread = threading.Thread(target=lambda: told.extend(live.reward([(made.id, 1.0)])))
        thread.start()
        while other.execute(waits, (name,)).fetchone() is None:
            assert thread.is_alive()
        db.execute("COMMIT")
        thread.join()
        assert statuses(told) == [404]
        for table in ("shared_rewards", "shared_tasks"):
            assert other.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_two_workers_reward_the_same_decisions_at_once_and_each_counts_once(lives, store_url):
    made = lives[0].decide([DecisionRequest(f"t{i % 7}") for i in range(60)])
    told = reward_at_once(lives, made, 20)
    assert sorted(statuses(told)) == ["duplicate"] * 60 + ["learned"] * 60
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (60, [])


def test_the_log_has_all_decisions_in_the_order_of_time(lives):
    act(lives[0], np.random.default_rng(0), rounds=3)
    lives[1].decide([DecisionRequest("late", best=True)])
    found = list(lives[0].view.logged())
    assert [one.parts["time"] for one in found] == sorted(one.parts["time"] for one in found)
    assert len(found) == 13
    assert found[-1].best
    assert found[-1].reward is None
    assert all(one.version == 1 and one.reward is not None for one in found[:-1])


@pytest.mark.parametrize("after", ["shared_rewards", "shared_metrics"])
@pytest.mark.parametrize("what", ["decide", "decide for a new task", "reward", "correct"])
def test_nothing_is_written_for_a_policy_that_is_deleted_meanwhile(
    store_url, what, after, monkeypatch
):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        live = two.turns("shop").live
        made, rewarded = live.decide([DecisionRequest("t"), DecisionRequest("u")])
        live.reward([(rewarded.id, 1.0)])
        do = {
            "decide": lambda: live.decide([DecisionRequest("t")]),
            "decide for a new task": lambda: live.decide([DecisionRequest("new")]),
            "reward": lambda: live.reward([(made.id, 1.0)]),
            "correct": lambda: live.correct(rewarded.id, 2.0),
        }[what]
        with half_deleted(one, "shop", after, monkeypatch) as go_on:
            assert isinstance(outcome_meanwhile(do, two.links, go_on), PolicyGone)
    assert list(check_shared(store_url)) == []


def test_a_deletion_waits_for_who_writes(store_url, monkeypatch):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        live = two.turns("shop").live
        (made,) = live.decide([DecisionRequest("t")])
        learn, deleting = live.tasks.learn, threading.Thread(target=one.delete, args=("shop",))

        def learn_late(*values):
            deleting.start()
            wait_for_a_lock(deleting, two.links)
            learn(*values)

        monkeypatch.setattr(live.tasks, "learn", learn_late)
        assert statuses(live.reward([(made.id, 1.0)])) == ["learned"]
        deleting.join()
    assert list(check_shared(store_url)) == []
