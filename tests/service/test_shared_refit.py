"""After a look all sites match anew: what is known is what expectation propagation says."""

import threading

import numpy as np
import pytest
from support.open_clicks import OpenClicks, farthest
from support.shared_stores import UNKNOWN, books

from hierbandits.service import shared_folder, shared_widths
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_folder import SharedFolder

SITES = "SELECT id, value, site_precision, site_weighted FROM shared_rewards ORDER BY id"
ROWS = "SELECT task_key, sums, folded, dirty FROM shared_tasks ORDER BY task_key"


def sound(url, rewards):
    (health,) = check_shared(url)
    assert (health.rewards, health.dirty, health.faults) == (rewards, 0, [])


@pytest.mark.parametrize("kind", UNKNOWN)
def test_sites_settle_under_the_widths_of_a_look(store_url, kind):
    with books(store_url, 2) as both:
        play = OpenClicks(kind, both, seed=1)
        play.go_on(19, folds=False)  # under the first widths
        assert play.generation.number == 1
        before = {id: site for id, *site in both[0].links.read(SITES)}
        assert both[1].folder(play.lives[1]).fold() > 0
        assert (play.generation.rewards, play.generation.due) == (76, 114)
        after = {id: site for id, *site in both[0].links.read(SITES)}
        assert all(before[id] != site for id, site in after.items())
        mean, width = farthest(play.known(), play.settled())
        assert mean < 0.01
        assert width < 0.01
        sound(store_url, 76)
        given = [one for one in play.lives[0].view.logged() if one.reward in (0.0, 1.0)][:6]
        for one in given:  # what the store has of each is taken out
            told = play.lives[0].correct(one.parts["id"], 1.0 - one.reward)
            assert told.status == "corrected"
        play.go_on(3)
        sound(store_url, 88)


def test_beyond_a_number_of_rewards_sites_are_matched_as_rewards_come(store_url, monkeypatch):
    monkeypatch.setattr(shared_widths, "MOST_REFITTED", 75)
    with books(store_url) as (book,):
        play = OpenClicks("clicks", [book], seed=1)
        play.go_on(19, folds=False)
        before = book.links.read(SITES)
        assert book.folder(play.lives[0]).fold() > 0
        assert book.links.read(SITES) == before
        assert play.generation.due == 114
        sound(store_url, 76)


def test_nobody_locks_more_tasks_than_a_generation_folds_while_some_are_left(
    store_url, monkeypatch
):
    monkeypatch.setattr(shared_folder, "AT_ONCE", 7)
    with books(store_url) as (book,):
        play = OpenClicks("clicks", [book], seed=1)
        play.go_on(19, folds=False)
        before, folder = book.links.read(SITES), book.folder(play.lives[0])
        assert folder.fold() == 7
        assert book.links.read(SITES) == before
        assert play.generation.due > 20  # somebody has looked
        assert folder.fold() == 1
        sound(store_url, 76)


def test_who_dies_then_leaves_all_as_it_was(store_url, monkeypatch):
    def die(*args):
        raise KeyboardInterrupt

    with books(store_url) as (book,):
        play = OpenClicks("clicks by features", [book])
        play.go_on(6, folds=False)
        before = book.links.read(SITES), book.links.read(ROWS)
        with monkeypatch.context() as patch:
            patch.setattr(SharedFolder, "put", die)
            with pytest.raises(KeyboardInterrupt):
                book.folder(play.lives[0]).fold()
        assert (book.links.read(SITES), book.links.read(ROWS)) == before
        assert book.folder(play.lives[0]).fold() > 0
        sound(store_url, 24)


def test_rewards_that_come_meanwhile_count_and_nobody_waits_in_a_circle(store_url, monkeypatch):
    """A look after each fold: all tasks are locked again and again while two workers learn."""
    monkeypatch.setattr(shared_widths, "look_due_after", lambda rewards: rewards + 1)
    with books(store_url, 3) as (one, two, folding):
        plays = [OpenClicks("clicks", [one]), OpenClicks("clicks", [two], seed=3)]
        errors = []

        def go_on(play):
            try:
                play.go_on(15, folds=False)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=go_on, args=(play,)) for play in plays]
        for thread in threads:
            thread.start()
        folder = folding.folder(folding.turns("shop").live)
        while any(thread.is_alive() for thread in threads):
            folder.fold()
        for thread in threads:
            thread.join()
        folder.fold()
        assert errors == []
        sound(store_url, 120)
        precision = [row[2] for row in one.links.read(SITES)]
        assert np.isfinite(precision).all()
