"""Rewards that never come: defaults in their place, once each, and the real ones after them."""

import io
import threading
import time

import msgspec
import numpy as np
import polars as pl
import pytest
from support.half_deletions import half_deleted, outcome_meanwhile, wait_for_a_lock
from support.local_services import LocalService
from support.shared_archives import exported
from support.shared_stores import (
    ARMED,
    OF_FAMILIES,
    SETTINGS,
    Clock,
    books,
    reference,
    same_posteriors,
    timed_books,
)

from hierbandits.service import shared_waits
from hierbandits.service.api_problem import PolicyGone
from hierbandits.service.doctor import doctor
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_import import import_shared
from hierbandits.service.shared_service import SharedService
from hierbandits.service.wire import DecisionRequest

WAIT, DEFAULT = 3600.0, -0.5
WAITING = msgspec.structs.replace(SETTINGS["armed"], reward_wait=WAIT, default_reward=DEFAULT)
TASKS = ["t0", "t1", "t2"]


@pytest.fixture
def old(store_url):
    """Two workers whose clocks are two hours behind, and so their decisions that old."""
    clock = Clock(time.time() - 2 * WAIT)
    with timed_books(store_url, clock, clock) as made:
        yield made, clock


def decide(live, number=1):
    """Ids of decisions, some of one time."""
    made = []
    for _ in range(number):
        made += live.decide([DecisionRequest(task) for task in TASKS])
        live.clock.now += 1.0
    return [one.id for one in made]


def give_up(live):
    """Until nothing is left to do; how many decisions had the default."""
    total, has_more = 0, True
    while has_more:
        number, has_more = live.give_up()
        total += number
    return total


def told(live, ids):
    found = live.view.made(ids)
    return [(found[id]["reward"], found[id]["provisional"]) for id in ids]


def check_belief(book, ids):
    """The belief is that of the rewards that are stored."""
    live = book.turns("p").live
    found = live.view.made(ids).values()
    events = [(one["task"], one["features"], one["reward"]) for one in found]
    belief, places = reference(ARMED, [one for one in events if one[2] is not None])
    same_posteriors(live.agent_with(TASKS)[0], TASKS, belief, places)
    (health,) = check_shared(book.links.url.text)
    assert health.faults == []


def test_who_waits_too_long_has_the_default_until_the_reward_comes(old):
    (one, two), clock = old
    one.put("p", WAITING)
    live, other = one.turns("p").live, two.turns("p").live
    late, rewarded = decide(live), decide(live)
    assert {each.status for each in live.reward([(id, 2.0) for id in rewarded])} == {"learned"}
    clock.now = time.time()
    young = decide(live)
    assert give_up(other) == 3
    assert give_up(live) == 0
    assert told(live, late) == [(DEFAULT, True)] * 3
    assert told(live, rewarded) == [(2.0, False)] * 3
    assert told(live, young) == [(None, False)] * 3
    check_belief(one, late + rewarded + young)
    given = [(late[0], 7.0), (late[0], 7.0), (late[0], 8.0), (late[1], DEFAULT)]
    statuses = [getattr(reply, "status", None) for reply in live.reward(given)]
    assert statuses == ["learned", "duplicate", 409, "learned"]
    assert other.correct(late[2], 4.0).status == "corrected"
    assert told(other, late) == [(7.0, False), (DEFAULT, False), (4.0, False)]
    assert give_up(live) == 0
    one.folder(live).fold()
    check_belief(two, late + rewarded + young)


def test_workers_at_once_give_each_default_once_and_the_oldest_first(old, monkeypatch):
    (one, two), _ = old
    monkeypatch.setattr(shared_waits, "AT_ONCE", 4)
    one.put("p", WAITING)
    lives = [book.turns("p").live for book in (one, two)]
    ids = decide(lives[0], 20)
    assert lives[1].give_up() == (0, True)  # it begins
    assert lives[1].give_up() == (4, True)
    assert [is_default for _, is_default in told(lives[0], ids[:3])] == [True] * 3
    assert sum(is_default for _, is_default in told(lives[0], ids)) == 4
    totals, errors = [], []

    def work(live):
        try:
            while (done := sum(is_default for _, is_default in told(live, ids))) < 60:
                totals.append(live.give_up().number)
            assert done == 60
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(live,)) for live in lives]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(totals) == 56
    check_belief(one, ids)


def test_a_default_and_a_reward_at_once_are_one_reward(old):
    (one, two), _ = old
    one.put("p", WAITING)
    lives = [book.turns("p").live for book in (one, two)]
    ids = decide(lives[0], 30)
    lives[0].give_up()
    replies = []
    thread = threading.Thread(
        target=lambda: replies.extend(lives[1].reward([(id, 1.0)])[0] for id in ids)
    )
    thread.start()
    give_up(lives[0])
    thread.join()
    assert {reply.status for reply in replies} == {"learned"}
    assert told(lives[0], ids) == [(1.0, False)] * 90
    check_belief(two, ids)


@pytest.mark.parametrize("kind", ["clicks", "clicks by features"])
def test_a_click_that_never_comes_is_none(old, kind):
    (one, _), _ = old
    settings = msgspec.structs.replace(OF_FAMILIES[kind], reward_wait=WAIT, default_reward=0.0)
    one.put("p", settings)
    live = one.turns("p").live
    ids = decide(live, 4)
    live.reward([(id, 1.0) for id in ids[::3]])
    assert give_up(live) == 8

    def expected(id):
        """The belief's mean of the linear predictor of a decision."""
        parts = live.view.decision(id)
        agent, _ = live.agent_with([parts["task"]])
        mean = agent.belief.task(agent.node(parts["task"])).mean
        features = parts["features"]
        return mean[features] if agent.belief.is_armed else np.dot(features, mean)

    for id in ids[1::3]:
        before = expected(id)
        assert live.reward([(id, 1.0)])[0].status == "learned"
        assert expected(id) > before
    (health,) = check_shared(one.links.url.text)
    assert (health.faults, health.rewards) == ([], 12)


def test_a_version_may_begin_to_wait_and_end(old):
    (one, two), _ = old
    one.put("p", SETTINGS["armed"])
    live, other = one.turns("p").live, two.turns("p").live
    first = decide(live)
    assert give_up(other) == 0
    two.put("p", WAITING)
    live.refresh()
    assert give_up(live) == 3
    second = decide(live)
    one.put("p", msgspec.structs.replace(SETTINGS["armed"], floor=0.1))
    assert give_up(live) == 0  # it hears that there is no default any more
    assert told(live, first + second) == [(DEFAULT, True)] * 3 + [(None, False)] * 3
    check_belief(one, first + second)


def test_what_is_deleted_is_not_given_up(old):
    (one, two), _ = old
    one.put("p", WAITING)
    live = one.turns("p").live
    decide(live)
    assert give_up(live) == 3
    two.delete("p")
    assert one.links.read("SELECT 1 FROM shared_waits") == []
    one._give_up(one.turns("p"))
    assert live.waits.give_up(live.view, WAIT, DEFAULT) == (0, False)
    assert one.links.read("SELECT 1 FROM shared_waits") == []


def test_a_default_that_no_version_has_is_a_fault(old):
    (one, _), _ = old
    one.put("p", WAITING)
    decide(one.turns("p").live)
    give_up(one.turns("p").live)
    with one.links.transaction() as db:
        db.execute("UPDATE shared_versions SET settings = convert_to(replace(convert_from("
                   "settings, 'UTF8'), '-0.5', '-0.25'), 'UTF8')")  # fmt: skip
    (health,) = check_shared(one.links.url.text)
    assert "a default reward is that of no version" in health.faults


def test_the_worker_that_folds_gives_up_and_everything_tells_it(store_url, tmp_path):
    settings = msgspec.json.decode(WAITING.to_json())
    behind = Clock(time.time() - 2 * WAIT)
    with LocalService(tmp_path, kind=SharedService, store=store_url, clock=behind) as local:

        def ask(method, path, **body):
            return local.request(method, f"/policies/p{path}", json=body or None)

        assert ask("PUT", "", **settings).is_success
        made = ask("POST", "/decisions", task="t").json()
        while (row := ask("GET", f"/decisions/{made['id']}").json())["reward"] is None:
            assert row["provisional"] is False
        assert (row["reward"], row["provisional"]) == (DEFAULT, True)
        (recent,) = ask("GET", "/recent").json()["decisions"]
        assert (recent["reward"], recent["provisional"]) == (DEFAULT, True)
        counts = ask("GET", "/history").json()["counts"]
        assert (counts["defaulted"], counts["rewarded"]) == (1, 0)
        frame = pl.read_parquet(io.BytesIO(ask("GET", "/log").content))
        assert frame.select("reward", "provisional").rows() == [(DEFAULT, True)]
        shown = ask("GET", "").json()
        assert (shown["rewards"], shown["pending"]) == (1, 0)
        metrics = local.request("GET", "/metrics").text
        assert 'hierbandits_expired_decisions_total{policy="p"} 1.0' in metrics
        assert (
            ask("POST", f"/decisions/{made['id']}/reward", value=1.0).json()["status"] == "learned"
        )
        assert ask("GET", f"/decisions/{made['id']}").json()["provisional"] is False
    assert doctor(tmp_path / "none", store=store_url).faults == []


def test_without_a_default_a_decision_just_waits_no_more(store_url, tmp_path):
    settings = msgspec.json.decode(WAITING.to_json()) | {"default_reward": None}
    clock = Clock(time.time() - 2 * WAIT)
    with LocalService(tmp_path, kind=SharedService, store=store_url, clock=clock) as local:

        def post(path, **body):
            return local.request("POST", f"/policies/p/{path}", json=body).json()

        local.request("PUT", "/policies/p", json=settings)
        for when in (clock.now, time.time(), time.time()):
            clock.now = when
            made = post("decisions", task="t")
        post(f"decisions/{made['id']}/reward", value=1.0)
        shown = local.request("GET", "/policies/p").json()
        assert (shown["events"], shown["rewards"], shown["pending"]) == (3, 1, 1)
    with books(store_url) as (book,):
        assert give_up(book.turns("p").live) == 0


def test_in_a_file_decisions_with_a_default_wait_and_who_reads_it_gives_the_default_anew(
    old, store_url, tmp_path
):
    (book, _), _ = old
    book.put("shop", WAITING)
    live = book.turns("shop").live
    ids = decide(live, 2)
    assert live.reward([(ids[0], 1.0)])[0].status == "learned"
    assert give_up(live) == 5
    assert live.reward([(ids[1], 2.0)])[0].status == "learned"
    archive = exported(live, book.links, tmp_path / "archive")
    import_shared(book.links, "copy", archive)
    copy = book.turns("copy").live
    assert copy.view.made(ids)[ids[2]]["reward"] is None
    assert give_up(copy) == 4
    assert copy.view.made(ids) == live.view.made(ids)
    assert [fault for health in check_shared(store_url) for fault in health.faults] == []


def test_nothing_is_given_to_a_policy_that_is_deleted_meanwhile(old, store_url, monkeypatch):
    (one, two), _ = old
    one.put("p", WAITING)
    live = two.turns("p").live
    decide(live)
    live.give_up()  # now it is known how far
    for table in ("shared_waits", "shared_metrics"):
        with half_deleted(one, "p", table, monkeypatch) as go_on:
            outcome = outcome_meanwhile(live.give_up, two.links, go_on)
        assert isinstance(outcome, PolicyGone) or outcome.number == 0
        assert list(check_shared(store_url)) == []
        one.put("p", WAITING)
        two.forget("p")
        live = two.turns("p").live
        decide(live)


def test_a_deletion_and_who_gives_up_do_not_wait_for_each_other(old, store_url, monkeypatch):
    (one, two), _ = old
    one.put("p", WAITING)
    live = two.turns("p").live
    ids, deleting = decide(live), threading.Thread(target=one.delete, args=("p",))
    live.give_up()  # now it is known how far
    put_defaults = live.view.put_defaults

    def put_late(*values):
        deleting.start()
        wait_for_a_lock(deleting, two.links)
        put_defaults(*values)

    monkeypatch.setattr(live.view, "put_defaults", put_late)
    assert live.give_up().number == len(ids)
    deleting.join()
    assert list(check_shared(store_url)) == []
