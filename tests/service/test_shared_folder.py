"""Folding: whatever comes in between, a generation is what all tasks tell, or an older one."""

import threading

import numpy as np
import pytest
from msgspec.structs import replace
from support.shared_stores import ARMS, OF_FAMILIES, PRIORS, SETTINGS, act, books, reference

import hierbandits as hb
from hierbandits.service import shared_folder
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_folder import SharedFolder, newest
from hierbandits.service.store_url import StoreUrl


@pytest.fixture
def shop(store_url):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        live = book.turns("shop").live
        yield live, book.folder(live)


def hyper_of(live):
    live.refresh()
    return hb.merge_contributions(live.generation.hierarchy, [live.generation.told])


def check(live, prior, events):
    belief, _ = reference(prior, events)
    hyper = hyper_of(live)
    np.testing.assert_allclose(hyper.mean, belief.hyper().mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(hyper.cov, belief.hyper().cov, rtol=0, atol=1e-9)
    assert live.generation.rewards == len(events)


@pytest.mark.parametrize("kind", PRIORS)
def test_folded_generations_are_the_hyper_posterior_of_all_rewards(store_url, kind):
    rng = np.random.default_rng(1)
    with books(store_url, 2) as both:
        both[0].put("shop", SETTINGS[kind])
        lives = [book.turns("shop").live for book in both]
        folders = [book.folder(live) for book, live in zip(both, lives, strict=True)]
        events = []
        for round_number in range(6):
            events += act(lives[round_number % 2], rng, rounds=2)
            assert folders[round_number % 2].fold() > 0
            check(lives[0], PRIORS[kind], events)
        assert folders[0].fold() == 0
        assert lives[0].generation.age == 6
        (health,) = check_shared(store_url)
        assert (health.faults, health.dirty) == ([], 0)


def test_from_time_to_time_everything_is_added_up_anew(shop, monkeypatch):
    monkeypatch.setattr(shared_folder, "LIFETIME", 3)
    live, folder = shop
    rng, events, ages = np.random.default_rng(2), [], []
    for _ in range(5):
        events += act(live, rng, rounds=1)
        folder.fold()
        check(live, PRIORS["armed"], events)
        ages.append(live.generation.age)
    assert ages == [1, 2, 0, 1, 2]


def test_more_tasks_than_one_generation_takes_are_folded_by_the_next(shop, monkeypatch):
    monkeypatch.setattr(shared_folder, "AT_ONCE", 2)
    live, folder = shop
    events = act(live, np.random.default_rng(0), rounds=4)
    number = len({task for task, *_ in events})
    folded = [folder.fold() for _ in range(4)]
    assert sum(folded) == number
    assert folded[:2] == [2, 2]
    check(live, PRIORS["armed"], events)


def test_a_fold_waits_until_it_is_due(shop):
    live, folder = shop
    events = act(live, np.random.default_rng(0), rounds=10)
    assert folder.fold(60.0, 0.1) > 0  # the first rewards have grown from none
    act(live, np.random.default_rng(1), rounds=1)
    assert folder.fold(60.0, 0.1) == 0
    assert folder.rewards == len(events)
    assert folder.fold(60.0, 0.05) > 0
    assert folder.rewards == len(events) + 4


def test_who_dies_while_folding_leaves_the_older_generation(shop, monkeypatch):
    live, folder = shop
    events = act(live, np.random.default_rng(0), rounds=3)
    put = SharedFolder.put

    def die(*args):
        put(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(SharedFolder, "put", die)
    with pytest.raises(KeyboardInterrupt):
        folder.fold()
    monkeypatch.setattr(SharedFolder, "put", put)
    live.refresh()
    assert live.generation.number == 1
    assert folder.fold() > 0
    check(live, PRIORS["armed"], events)


def test_two_do_not_fold_at_once_and_rewards_come_meanwhile(shop):
    live, folder = shop
    rng = np.random.default_rng(0)
    events = act(live, rng, rounds=2)
    with folder.folding():
        assert folder.fold() == 0
    held, go_on = threading.Event(), threading.Event()

    def told_by_all(*args):
        held.set()
        go_on.wait(20)
        return SharedFolder._told_by_all(slow, *args)

    slow = SharedFolder(live.record.id, live.model, live._links)
    slow._told_by_all = told_by_all
    shared_folder.LIFETIME, usual = 1, shared_folder.LIFETIME
    thread = threading.Thread(target=slow.fold)
    thread.start()
    try:
        assert held.wait(20)
        events += act(live, rng, rounds=2)  # of the same tasks, which nobody has locked
    finally:
        go_on.set()
        thread.join()
        shared_folder.LIFETIME = usual
    live.refresh()
    assert live.generation.rewards == len(events) // 2
    folder.fold()
    check(live, PRIORS["armed"], events)


def test_unknown_widths_are_fitted_and_are_part_of_the_generation(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", PolicySettings(arms=ARMS, draws=5))
        live, other = one.turns("shop").live, two.turns("shop").live
        events = act(live, np.random.default_rng(0), rounds=20)
        assert one.folder(live).fold() > 0
        live.refresh()
        first = live.generation
        assert (first.rewards, first.due, first.age) == (80, 88, 0)
        assert first.hierarchy.noise_std != 1.0
        events += act(other, np.random.default_rng(1), rounds=3)
        assert two.folder(other).fold() > 0
        live.refresh()
        check(live, live.generation.hierarchy, events)
        assert live.generation.due == 102
        assert live.generation.hierarchy.to_dict() != first.hierarchy.to_dict()
        (health,) = check_shared(store_url)
        assert health.faults == []


def test_who_folds_follows_versions_that_others_made(store_url):
    with books(store_url, 2) as (one, two):
        one.put("shop", PolicySettings(arms=ARMS, draws=5))
        live, other = one.turns("shop").live, two.turns("shop").live
        act(live, np.random.default_rng(0), rounds=5)
        folder = two.folder(other)
        assert one.put("shop", replace(live.settings, prior=SETTINGS["armed"].prior)) == (2, False)
        assert folder.fold() > 0
        live.refresh()
        assert live.generation.hierarchy.to_dict() == PRIORS["armed"].to_dict()
        assert live.generation.due is None
        assert one.put("shop", PolicySettings(arms=ARMS, draws=5)) == (3, False)
        live.refresh()
        assert live.generation.due == 22  # widths are fitted at once


def test_a_task_that_is_forgotten_was_never_met(shop, store_url):
    live, folder = shop
    events = act(live, np.random.default_rng(0), rounds=5)
    folder.fold()
    events += act(live, np.random.default_rng(1), rounds=2)
    task = events[0][0]
    number = sum(one[0] == task for one in events)
    assert folder.forget(task_key(f'"{task}"')) == number
    assert folder.forget(task_key(f'"{task}"')) is None
    folder.fold()
    check(live, PRIORS["armed"], [one for one in events if one[0] != task])
    (health,) = check_shared(store_url)
    assert health.faults == []
    with live._links.transaction() as db:
        assert newest(db, 5) == (None, 0.0)


def test_few_rows_are_read_for_each_reward_however_many_there_are(store_url):
    """Plans that the server made for empty tables would read most rows of the policy each time."""
    rounds, size = 100, 40
    with books(store_url) as (book,):
        book.put("shop", OF_FAMILIES["clicks by features"])
        live = book.turns("shop").live
        folder, rng = book.folder(live), np.random.default_rng(0)
        for _ in range(rounds):
            act(live, rng, 1, tasks=2000, size=size)
            folder.fold(1e9, 0.1)
    with StoreUrl(store_url).connect() as db:
        reads = "SELECT sum(seq_tup_read + idx_tup_fetch)::float8 FROM pg_stat_user_tables"
        sessions = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        while db.execute(sessions).fetchone() != (0,):  # they tell what they read when they end
            pass
        (read,) = db.execute(reads).fetchone()
    assert read < 100 * rounds * size
