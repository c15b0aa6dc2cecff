"""What happened to a shared policy, told from rows: once each, whoever reads them, in any order."""

import time

import numpy as np
import pytest
from support.shared_stores import SETTINGS, Clock, timed_books

from hierbandits.dashboard.policy_history import PolicyHistory
from hierbandits.service import shared_history
from hierbandits.service.shared_history import SharedHistory, store_clock
from hierbandits.service.shared_waits import SharedWaits
from hierbandits.service.wire import DecisionRequest

LONG = 60.0


class Played:
    """Two workers of one policy, the second with a clock that is behind, and a plain reference."""

    def __init__(self, books, clock):
        self.books, self.clock, self.rng = books, clock, np.random.default_rng(0)
        books[0].put("p", SETTINGS["armed"])
        self.lives = [book.turns("p").live for book in books]
        self.policy = self.lives[0].record.id
        self.told, self.ids = PolicyHistory(), []

    def history(self):
        return SharedHistory(self.policy, self.books[0].links, lambda db: self.clock.now)

    def decide(self, who=0, tasks=("t1", "t2", "t3")):
        made = self.lives[who].decide([DecisionRequest(task) for task in tasks])
        parts = [self.lives[who].view.decision(one.id) for one in made]
        self._tell(kind="decide", time=parts[0]["time"], decisions=parts)
        self.ids += [one.id for one in made]
        return [one.id for one in made]

    def reward(self, ids, who=1):
        values = self.rng.normal(size=len(ids)).tolist()
        given = list(zip(ids, values, strict=True))
        assert {one.status for one in self.lives[who].reward(given)} == {"learned"}
        self._tell(kind="reward", time=self.lives[who].clock(), ids=ids, values=values)

    def give_up(self, wait, default):
        """Let decisions have the default, and tell the reference at the time of the workers."""
        live, now = self.lives[0], self.clock.now
        waits = SharedWaits(self.policy, self.books[0].links, lambda db: now)
        while waits.give_up(live.view, wait, default).has_more:
            pass
        given = {id: live.view.decision(id) for id in self.ids}
        ids = [id for id in self.ids if given[id]["provisional"]]
        self._tell(kind="expire", time=now, ids=ids, default=default)

    def correct(self, id, value):
        assert self.lives[0].correct(id, value).status == "corrected"
        self._tell(kind="correct", id=id, value=value)

    def _tell(self, **event):
        self.told.follow([(0, event)])

    def play(self, rounds, step):
        """Rounds with the first rewards of each, `step` seconds apart."""
        for _ in range(rounds):
            self.reward(self.decide(int(self.rng.integers(2)))[:2])
            self.clock.now += step


@pytest.fixture
def played(store_url):
    clock = Clock(1_000_000.0)
    with timed_books(store_url, clock, lambda: clock.now - 3.0) as books:
        yield Played(books, clock)


def same(found, reference):
    """Whether two histories tell the same; sums may be added up in another order."""
    expected = reference.to_dict()
    for name in ("counts", "waiting", "width", "delays"):
        assert found[name] == expected[name], name
    assert [one["time"] for one in found["curve"]] == [one["time"] for one in expected["curve"]]
    for one, other in zip(found["curve"], expected["curve"], strict=True):
        for part in ("groups", "arms"):
            assert one[part].keys() == other[part].keys()
            for name, row in one[part].items():
                assert row == pytest.approx(other[part][name], abs=1e-9)
    np.testing.assert_allclose(found["calibration"], expected["calibration"], atol=1e-9)


def test_looks_count_every_row_once_though_a_reward_seems_older_than_its_decision(played):
    history = played.history()
    assert history.look(LONG)["counts"]["decisions"] == 0
    played.play(20, 10.0)
    same(history.look(LONG), played.told)
    late = played.ids[2]
    for _ in range(8):  # the newest rows are followed again at each look, until they are settled
        played.play(1, 7.0)
        same(history.look(LONG), played.told)
    played.reward([late])
    same(history.look(LONG), played.told)
    same(played.history().look(LONG), played.told)


def test_the_time_is_the_stores(played):
    with played.books[0].links.transaction() as db:
        before, now, after = time.time(), store_clock(db), time.time()
    assert before - 1 < now < after + 1


def test_a_look_that_has_no_time_goes_on_at_the_next(played):
    played.play(5, 1.0)
    played.clock.now += 60.0
    history, seen = played.history(), []
    while (found := history.look(0.0))["counted_to"] is not None:
        seen.append((found["event"], found["counted_to"], found["counts"]["decisions"]))
    assert len(seen) >= 8  # a time each
    assert seen == sorted(seen)
    assert len({event for event, *_ in seen}) == len(seen)
    assert {decisions % 3 for *_, decisions in seen} == {0}
    same(found, played.told)


def test_a_correction_replaces_what_was_counted(played):
    history = played.history()
    played.play(3, 1.0)
    played.clock.now += 60.0
    same(history.look(LONG), played.told)
    played.correct(played.ids[0], 7.0)
    same(history.look(LONG), played.told)
    assert history.look(LONG)["counts"]["corrected"] == 1


def test_a_default_counts_until_the_reward_comes(played):
    history = played.history()
    played.play(3, 1.0)
    played.clock.now += 60.0
    played.give_up(50.0, -1.0)
    found = history.look(LONG)
    same(found, played.told)
    assert (found["counts"]["defaulted"], found["waiting"]) == (3, 0)
    played.clock.now += 60.0
    same(history.look(LONG), played.told)
    played.reward([played.ids[2]])
    found = history.look(LONG)
    same(found, played.told)
    assert found["counts"]["late"] == 1


def test_a_kept_history_is_where_another_reader_begins(played, monkeypatch):
    monkeypatch.setattr(shared_history, "LEAST_KEPT", 1)
    played.play(10, 1.0)
    played.clock.now += 60.0
    played.history().look(LONG)
    with played.books[0].links.transaction() as db:
        ((number,),) = db.execute("SELECT number FROM shared_histories").fetchall()
        assert number == 50
        db.execute("DELETE FROM shared_rewards")  # who counts anew would not see them
    played.play(1, 1.0)
    same(played.history().look(LONG), played.told)


def test_a_kept_history_that_is_damaged_is_counted_anew(played, monkeypatch):
    monkeypatch.setattr(shared_history, "LEAST_KEPT", 1)
    played.play(10, 1.0)
    played.clock.now += 60.0
    played.history().look(LONG)
    for state in (b'{"number": 99}', b"no", None):
        with played.books[0].links.transaction() as db:
            db.execute("UPDATE shared_histories SET state = %s", (state,))
        same(played.history().look(LONG), played.told)


def test_rows_that_a_slow_clock_has_dated_back_are_found_when_it_is_kept(played, monkeypatch):
    monkeypatch.setattr(shared_history, "LEAST_KEPT", 1)
    played.play(10, 10.0)
    history, other = played.history(), played.history()
    same(history.look(LONG), played.told)
    other.look(LONG)
    played.clock.now -= 50.0
    played.decide()
    played.clock.now += 60.0
    played.play(2, 1.0)
    assert history.look(LONG)["counts"]["decisions"] == 36  # and 3 that it does not see
    same(history.look(LONG), played.told)
    same(other.look(LONG), played.told)


def test_what_is_deleted_counts_no_more_and_leaves_nothing(played, monkeypatch):
    monkeypatch.setattr(shared_history, "LEAST_KEPT", 1)
    played.play(10, 1.0)
    played.clock.now += 60.0
    history, other = played.history(), played.history()
    same(history.look(LONG), played.told)
    book, sql = played.books[1], "SELECT state FROM shared_histories"
    assert len(book.links.read(sql)[0][0]) > 100
    live = book.turns("p").live
    book.folder(live).forget(shared_key("t1"))
    assert book.links.read(sql) == [(None,)]
    for one in (history, other):
        counts = one.look(LONG)["counts"]
        assert (counts["decisions"], counts["rewarded"]) == (20, 10)
    book.delete("p")
    assert book.links.read(sql) == []
    history._keep_if_grown()
    monkeypatch.setattr(shared_history, "GROWTH_KEPT", 0.0)
    history._kept = 0
    history._made = -1.0
    history._history.counts["decisions"] = 0
    history._keep_if_grown()
    assert book.links.read(sql) == []


def shared_key(task):
    from hierbandits.service.postgres_rows import task_key
    from hierbandits.service.stored_event import as_text

    return task_key(as_text(task))
