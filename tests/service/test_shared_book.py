"""Policies that workers share, by name: created once, changed, deleted, folded."""

import threading
import time

import numpy as np
import pytest
from msgspec.structs import replace
from support.open_clicks import OpenClicks, farthest
from support.shared_stores import (
    ARMS,
    FAMILIES,
    LINEAR,
    OF_FAMILIES,
    SETTINGS,
    act,
    books,
    reference,
    same_posteriors,
)

from hierbandits.service import shared_book, shared_folder
from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_check import check_shared
from hierbandits.service.wire import DecisionRequest


def test_of_workers_that_create_a_policy_at_once_one_does(store_url):
    with books(store_url, 4) as all_books:
        told = []
        threads = [
            threading.Thread(
                target=lambda book=book: told.append(book.put("shop", SETTINGS["armed"]))
            )
            for book in all_books
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(told) == [(1, False)] * 3 + [(1, True)]
        assert [one.name for one in all_books[2].records()] == ["shop"]
        assert [one.number for one in all_books[3].versions("shop")] == [1]


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        (PolicySettings(arms=ARMS, rewards="bernoulli", rule="PooledTS"), 400),
        (PolicySettings(arms=ARMS, sticky=True), 400),
        (PolicySettings(arms=ARMS, draws=-1), 400),
    ],
)
def test_what_cannot_be_shared_is_refused_when_it_is_created(store_url, settings, status):
    with books(store_url) as (book,):
        with pytest.raises(Problem) as raised:
            book.put("shop", settings)
        assert raised.value.status == status
        assert book.records() == []
        with pytest.raises(Problem, match="name must be"):
            book.put("a/b", SETTINGS["armed"])


def test_arms_stay_and_what_is_unknown_is_not_found(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        with pytest.raises(Problem, match="arms must stay") as raised:
            book.put("shop", SETTINGS["linear"])
        assert raised.value.code == "log_does_not_fit"
        assert book.put("shop", replace(SETTINGS["armed"], floor=0.1)) == (2, False)
        for ask in (book.record, book.turns, book.versions, book.delete):
            with pytest.raises(Problem) as raised:
                ask("none")
            assert raised.value.status == 404


def test_arms_with_features_may_change_and_what_was_learned_stays(store_url):
    linear = SETTINGS["linear"]
    with books(store_url, 2) as (one, two):
        one.put("shop", linear)
        live, other = one.turns("shop").live, two.turns("shop").live
        events = act(live, np.random.default_rng(0), rounds=4)
        one.folder(live).fold()
        arms = {"q": [0.2, 0.8], "new": [1.0, -1.0]}
        assert one.put("shop", replace(linear, arms=arms)) == (2, False)
        (made,) = other.decide([DecisionRequest(events[0][0])])
        assert made.version == 2
        assert made.arm in arms
        assert other.view.decision(made.id)["features"] == arms[made.arm]
        belief, places = reference(LINEAR, events)
        same_posteriors(other.agent_with(list(places))[0], places, belief, places)
        other.reward([(made.id, 0.5)])
        assert one.put("shop", replace(linear, arms=None)) == (3, False)
        with pytest.raises(Problem, match="prior must have as many arms or features"):
            one.put("shop", PolicySettings(arms={"p": [1.0, 2.0, 3.0], "q": [0.0, 1.0, 0.0]}))
        with pytest.raises(Problem, match="arms must stay as it is"):
            one.put("shop", SETTINGS["armed"])
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (17, [])


@pytest.mark.parametrize("kind", ["clicks", "clicks by features"])
def test_a_prior_may_come_and_go_while_rewards_are_of_one_family(store_url, kind):
    stated = replace(OF_FAMILIES[kind], rewards=None)
    with books(store_url) as (book,):
        play = OpenClicks(kind, [book])
        play.go_on(8)
        fitted = play.generation.hierarchy.to_dict()
        assert book.put("shop", stated) == (2, False)
        assert play.generation.due is None
        assert play.generation.hierarchy.to_dict() == FAMILIES[kind].hierarchy.to_dict()
        play.go_on(2)
        assert book.put("shop", play.settings) == (3, False)
        assert (play.generation.rewards, play.generation.due) == (40, 60)  # widths are fitted
        assert play.generation.hierarchy.to_dict() != fitted
        assert max(farthest(play.known(), play.settled())) < 0.01
        for rewards in (None, "poisson"):
            with pytest.raises(Problem, match="rewards must stay as they are") as raised:
                book.put("shop", replace(play.settings, rewards=rewards))
            assert raised.value.code == "log_does_not_fit"
    (health,) = check_shared(store_url)
    assert (health.rewards, health.faults) == (40, [])


def test_a_policy_that_others_delete_and_create_is_the_new_one(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        old = two.turns("shop")
        one.delete("shop")
        one.put("shop", SETTINGS["linear"])
        two.look()
        assert two.known("shop") is None
        assert two.turns("shop").live.settings == SETTINGS["linear"]
        assert old is not two.turns("shop")


def test_a_book_that_runs_folds_by_itself_and_survives_cut_connections(store_url, postgres):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        book.start()
        for seed in range(2):
            act(live, np.random.default_rng(seed), rounds=2)
            deadline = time.monotonic() + 30
            sql = "SELECT max(rewards) FROM shared_generations"
            while book.links.read(sql) != [(8 * (seed + 1),)]:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            postgres.cut(store_url)


def test_more_tasks_than_one_generation_takes_are_folded_at_once(store_url, monkeypatch):
    monkeypatch.setattr(shared_folder, "AT_ONCE", 2)
    monkeypatch.setattr(shared_book, "AT_ONCE", 2)
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        events = act(live, np.random.default_rng(0), rounds=3)
        assert len({task for task, *_ in events}) > 2
        book._fold(live)
        live.refresh()
        assert live.generation.rewards == 12


def test_a_policy_is_the_new_one_at_once_for_who_made_it(store_url, tmp_path):
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        old = two.turns("shop")
        one.delete("shop")
        assert two.put("shop", SETTINGS["linear"]) == (1, True)
        assert two.turns("shop").live.settings == SETTINGS["linear"]
        assert old is not two.turns("shop")


def test_a_policy_that_was_deleted_is_no_error_for_who_folds(store_url, monkeypatch):
    said = []
    monkeypatch.setattr(shared_book, "say", lambda *words, **parts: said.append(words))
    monkeypatch.setattr(shared_folder, "is_due", lambda read, policy: True)
    with books(store_url, 2) as (one, two):
        one.put("shop", SETTINGS["armed"])
        turns = two.turns("shop")
        one.delete("shop")
        two.start()
        deadline = time.monotonic() + 30
        while not turns.is_gone:
            assert time.monotonic() < deadline
            assert said == []
            time.sleep(0.01)
        assert two.known("shop") is None
    assert said == []
