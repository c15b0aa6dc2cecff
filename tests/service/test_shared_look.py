"""A look of workers is that of one process at the same rewards; it reads a bounded number."""

import numpy as np
import pytest
from support.open_clicks import TASKS, OpenClicks
from support.shared_stores import UNKNOWN, books

import hierbandits as hb
from hierbandits.beliefs.family_width_look import (
    FIRST_WIDTHS,
    FamilyWidthLook,
    link_of_mean,
    widths_in,
)
from hierbandits.service import shared_look
from hierbandits.service.shared_look import SharedLook


def look_alone(play, before):
    """What a belief in one process would find."""
    model = play.lives[0].model
    belief = hb.MatchedBelief(hb.GeneralizedHierarchy(model.hierarchy(), model.rewards), len(TASKS))
    tasks, rows, values = zip(*play.events, strict=True)
    belief.observe([TASKS.index(task) for task in tasks], list(rows), values)
    told = belief._told_rows
    return FamilyWidthLook.of_rows(model, told, np.arange(told.size), before)


def look_of_workers(play, before):
    """The hierarchy that a look at the rows of the store finds."""
    live = play.lives[0]
    with live._links.transaction() as db:
        rows = ((keys, live.tasks.sums(sums)) for keys, sums in _rows(live, db))
        return SharedLook(db, live.record.id, live.model).hierarchy(rows, before)


def _rows(live, db):
    for some in live.tasks.all_folded(db):
        yield [key for key, _ in some], [folded for _, folded in some]


@pytest.mark.parametrize("kind", UNKNOWN)
def test_it_finds_what_a_look_in_one_process_finds(store_url, kind):
    with books(store_url) as (book,):
        play = OpenClicks(kind, [book])
        play.go_on(20, folds=False)
        book.folder(play.lives[0]).fold()
        alone = look_alone(play, FIRST_WIDTHS)
        same(play.generation.hierarchy, alone.hierarchy())
        found = widths_in(play.generation.hierarchy, alone._unit)
        np.testing.assert_allclose(found, alone.found, rtol=0.01, atol=0.001)
        play.go_on(11, folds=False)
        before = play.generation.hierarchy
        book.folder(play.lives[0]).fold()
        again = look_alone(play, widths_in(before, look_alone(play, FIRST_WIDTHS)._unit))
        same(play.generation.hierarchy, again.hierarchy())
        same(look_of_workers(play, None), look_alone(play, FIRST_WIDTHS).hierarchy())


def test_the_server_waits_for_who_looks_and_as_long_as_before_afterwards(store_url, monkeypatch):
    shown, waits = "SHOW idle_in_transaction_session_timeout", []
    with books(store_url) as (book,):
        play = OpenClicks("clicks", [book])
        play.go_on(5, folds=False)
        live = play.lives[0]
        with live._links.transaction() as db:

            def look(*args):
                waits.append(db.execute(shown).fetchone())
                return FamilyWidthLook(*args)

            monkeypatch.setattr(shared_look, "FamilyWidthLook", look)
            usual = db.execute(shown).fetchone()
            rows = [([], live.tasks.sums(row for (row,) in db.execute(SUMS, binary=True)))]
            SharedLook(db, live.record.id, live.model).hierarchy(rows, None)
            assert db.execute(shown).fetchone() == usual != ("5min",)
    assert waits == [("5min",)]


SUMS = "SELECT sums FROM shared_tasks"


def same(one, two):
    np.testing.assert_allclose(one.hyper_mean, two.hyper_mean, rtol=0, atol=1e-9)
    for mine, other in zip(one.covs, two.covs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=0.01, atol=0.001)


class Seen:
    """The sites that looks are given."""

    def __init__(self, monkeypatch):
        def look(model, sites, before, totals):
            self.sites, self.totals = sites, totals
            return FamilyWidthLook(model, sites, before, totals)

        monkeypatch.setattr(shared_look, "FamilyWidthLook", look)


def test_of_very_many_arms_those_of_the_tasks_with_most_rewards_are_looked_at(
    store_url, monkeypatch
):
    monkeypatch.setattr(shared_look, "MOST_ROWS", 7)
    seen = Seen(monkeypatch)
    with books(store_url) as (book,):
        play = OpenClicks("clicks", [book])
        play.go_on(30, folds=False)
        book.folder(play.lives[0]).fold()
        number = [sum(task == one for one, *_ in play.events) for task in TASKS]
        assert seen.sites.exposure.size <= 7
        most = np.sort(number)[::-1][: seen.sites.num_tasks]
        assert sorted(np.bincount(seen.sites.tasks, seen.sites.exposure)) == sorted(most)
        values = np.array([value for *_, value in play.events])
        mean = link_of_mean(play.lives[0].model.rewards, values, np.ones(values.size))
        np.testing.assert_allclose(play.generation.hierarchy.hyper_mean, mean)  # of all


def test_of_very_many_rewards_of_features_the_newest_of_some_tasks_are_read(store_url, monkeypatch):
    monkeypatch.setattr(shared_look, "MOST_ROWS", 12)
    monkeypatch.setattr(shared_look, "LEAST_TASKS", 3)
    seen = Seen(monkeypatch)
    with books(store_url) as (book,):
        play = OpenClicks("clicks by features", [book])
        play.go_on(30, size=2, folds=False)
        book.folder(play.lives[0]).fold()
        number = {task: sum(task == one for one, *_ in play.events) for task in TASKS}
        most = sorted(number, key=number.__getitem__)[-3:]
        assert sorted(np.bincount(seen.sites.tasks)) == [4, 4, 4]
        newest = [[one for one in play.events[::-1] if one[0] == task][:4] for task in most]
        read = zip(seen.sites.features.tolist(), seen.sites.rewards.tolist(), strict=True)
        told = [(list(row), value) for some in newest for _, row, value in some]
        assert sorted((list(row), value) for row, value in read) == sorted(told)
