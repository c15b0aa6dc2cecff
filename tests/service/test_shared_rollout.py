"""Rollouts that workers share: one order of changes, and every worker decides by the last one."""

import threading
import time

import numpy as np
import psycopg
import pytest
from msgspec.structs import replace
from support.shared_stores import SETTINGS, act, books

from hierbandits.service.api_problem import Problem
from hierbandits.service.doctor import doctor
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.rollout_operations import RolloutRequest
from hierbandits.service.shared_check import check_shared
from hierbandits.service.shared_rollout import changes_of, rollout_now
from hierbandits.service.shared_rollout_operations import act as change
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.store_url import SCHEMA
from hierbandits.service.wire import DecisionRequest

SHOP = replace(SETTINGS["armed"], control_arm="c")
HALF = RolloutRequest("start", [RampStep(0.5, 1e-6), RampStep(1.0)])
BACK = RolloutRequest("rollback")


@pytest.fixture
def two(store_url):
    with books(store_url, 2) as both:
        both[0].put("shop", SHOP, "ana")
        yield both


def live_of(book):
    return book.turns("shop").live


def rollout(book, asked, by="ana"):
    change(book.folder(live_of(book)), asked, by)


def groups(book, number=40):
    made = live_of(book).decide([DecisionRequest(f"t{i}") for i in range(number)])
    return {one.task: one.group for one in made}


def changes(book):
    return changes_of(book.links.read, live_of(book).record.id)


def whats(book):
    return [event["what"] for _, event in changes(book)]


def test_the_next_decision_of_any_worker_is_by_the_last_change(two):
    one, other = two
    assert set(groups(other).values()) == {"policy"}
    generation = live_of(other).generation
    rollout(one, RolloutRequest("start", [RampStep(0.5, 600.0), RampStep(1.0)]))
    half = groups(other)
    assert set(half.values()) == {"policy", "control"}
    assert groups(one) == half
    for asked in (RolloutRequest("hold"), RolloutRequest("resume")):
        rollout(other, asked)
    known = live_of(one).generation
    assert known.version == generation.version + 1  # that of the first change
    rollout(other, BACK)
    assert set(groups(one).values()) == {"control"}
    assert live_of(one).generation is known  # nothing else was read or made
    events = act(live_of(one), np.random.default_rng(0), rounds=2)
    assert {features for _, features, _ in events} == {2}  # the control arm
    state = rollout_now(one.links.read, live_of(one).record.id)
    assert (state.ramp.phase, state.audit) == ("rolled back", [])


def test_of_workers_that_step_at_once_one_does(store_url, two):
    with books(store_url, 3) as more:
        rollout(two[0], HALF)
        folders = [book.folder(live_of(book)) for book in (*two, *more)]
        for _ in range(3):
            threads = [threading.Thread(target=folder.tick) for folder in folders]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert whats(two[1]) == ["created", "ramp", "step"]
    assert set(groups(two[1]).values()) == {"policy"}
    assert two[0].links.read("SELECT number FROM shared_changes ORDER BY number") == [
        (1,), (2,), (3,),
    ]  # fmt: skip


def test_a_worker_that_nobody_asks_steps_too(store_url, two):
    rollout(two[0], HALF)
    with books(store_url) as (other,):
        other.look()
        assert other.known("shop") is not None
        other.start()
        deadline = time.monotonic() + 30
        while whats(two[0]) != ["created", "ramp", "step"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    with books(store_url) as (other,):
        other.look()
        assert other.known("shop") is None  # its ramp is over


def test_changes_of_many_at_once_have_one_order(store_url, two):
    lives = [live_of(book) for book in two]
    rollout(two[0], RolloutRequest("start", [RampStep(0.5, 600.0), RampStep(1.0)]))
    errors = []

    def play(place):
        book, live = two[place], lives[place]
        try:
            for number in range(4):
                book.change_arms(live, ArmChange("add_arm", f"{place} {number}", 0.0, 1.0, 0.5))
                book.put("shop", replace(SHOP, floor=0.1 + place / 10 + number / 100))
                act(live, np.random.default_rng(number), rounds=1)
                book.folder(live).fold()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=play, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    numbered = changes(two[0])
    assert [number for number, _ in numbered] == list(range(1, 19))
    versions = [event["policy_version"] for _, event in numbered]
    assert versions == list(range(1, 19))  # each of them has made one
    assert len(two[0].versions("shop")) == 18
    (health,) = check_shared(store_url)
    assert (health.version, health.faults) == (18, [])


def test_a_change_that_fails_leaves_nothing(two, monkeypatch):
    from hierbandits.service.shared_folder import SharedFolder

    def die(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(SharedFolder, "put", die)
    with pytest.raises(KeyboardInterrupt):
        rollout(two[0], BACK)
    monkeypatch.undo()
    assert whats(two[1]) == ["created"]
    assert set(groups(two[1]).values()) == {"policy"}


def test_older_programs_refuse_a_policy_that_has_a_rollout(two):
    plain = SharedVersion(SHOP)
    for version in (plain, plain.with_change(ArmChange("retire_arm", "a"))):
        newer = version.with_rollout()
        assert SharedVersion.from_json(newer.to_json()) == newer
        assert newer.with_settings(replace(SHOP, floor=0.5)).has_rollout
        assert newer.with_change(ArmChange("retire_arm", "b")).has_rollout
        with pytest.raises(ValueError, match="unknown field `with_rollout`"):
            PolicySettings.from_json(newer.to_json())  # as they read a version without `changes`
    rollout(two[0], BACK)
    rollout(two[1], RolloutRequest("start", [RampStep(1.0)]))
    rows = two[0].links.read("SELECT settings FROM shared_versions ORDER BY number")
    assert [SharedVersion.from_json(data).has_rollout for (data,) in rows] == [False, True]


def test_a_policy_from_before_there_were_rollouts_can_have_one(two):
    with two[0].links.transaction() as db:
        db.execute("DELETE FROM shared_changes")
        db.execute("DELETE FROM shared_rollouts")
    assert set(groups(two[1]).values()) == {"policy"}
    rollout(two[0], BACK)
    assert set(groups(two[1]).values()) == {"control"}
    assert whats(two[1]) == ["rollback"]


def test_rows_of_a_policy_that_is_deleted_are_gone(store_url, two):
    rollout(two[0], HALF)
    two[1].delete("shop")
    for table in ("shared_changes", "shared_rollouts"):
        assert two[0].links.read(f"SELECT * FROM {table}") == []
    live = live_of(two[0])
    with pytest.raises(Problem, match="policy"):
        rollout_now(two[0].links.read, live.record.id)
    two[0].folder(live).tick()
    assert two[0].links.read("SELECT * FROM shared_rollouts") == []


def test_a_policy_is_deleted_when_nobody_folds_it(two):
    thread = threading.Thread(target=two[1].delete, args=("shop",))
    sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    live, deadline = live_of(two[0]), time.monotonic() + 30
    with two[0].folder(live).folding():
        thread.start()
        while two[0].links.read(sql) == [(0,)]:
            assert time.monotonic() < deadline
        rollout_now(two[0].links.read, live.record.id)  # it is there still
    thread.join()
    assert two[0].records() == []


def test_doctor_finds_a_rollout_that_is_not_what_its_rows_say(store_url, two, tmp_path):
    rollout(two[0], BACK)
    assert doctor(tmp_path, store=store_url).faults == []
    with psycopg.connect(store_url, options=f"-c search_path={SCHEMA}") as db:
        db.execute("DELETE FROM shared_changes WHERE number = 2")
    (fault,) = doctor(tmp_path, store=store_url).faults
    assert "the rollout is 'rolled back', but 'none' by its rows" in fault
