"""A policy moves with its log; an agent's file becomes a policy."""

import json
import zipfile
from hashlib import blake2b

import numpy as np
import pytest
from support.service_lives import KINDS, Core, assert_close, known, live_on
from support.service_rooms import in_room

from hierbandits import Agent, GaussianHierarchy
from hierbandits.service import policy_archive
from hierbandits.service.policy_archive import read_policy, write_policy
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import from_ledger
from hierbandits.service.sqlite_storage import SqliteStorage


def written(core, path):
    with open(path, "wb") as file:
        write_policy(core.record, core.storage, file)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_goes_on_elsewhere_under_another_name(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(policy_archive, "_AT_ONCE", 7)  # so that it is written in many pieces
    core = Core(tmp_path / "a.db", KINDS[kind])
    waiting, settled = live_on(core, np.random.default_rng(1))
    archive = read_policy(written(core, tmp_path / "x.policy"))
    (tmp_path / "other").mkdir()

    async def scenario(room):
        turns = await room.book.adopt("new-name", archive)
        live, until = turns.live, core.live.number
        assert live.number == until + 1  # who imported it
        adopted = from_ledger(
            live.record, live.settings, room.storage, lambda event: None, until=until
        )
        assert known(adopted) == known(core.live.agent)
        room.storage.check()
        assert room.snapshots.newest(live.record.id, 1) == until  # it need not be replayed twice
        for table in ("ids", "rewards"):
            rows = [
                storage._file.read(f"SELECT * FROM {table}")
                for storage in (
                    core.storage,
                    SqliteStorage(tmp_path / "other" / "ledger.db", read_only=True),
                )
            ]
            assert [row[1:] for row in rows[0]] == [row[1:] for row in rows[1]]
        for id in waiting[:3]:
            value = 1.0
            assert (await room.reward(id, value, "new-name")).status == "learned"
            assert (await room.reward(id, value, "new-name")).status == "duplicate"
            core.reward(id, value)
        old = core.live.view.decision(settled[0])
        assert turns.live.view.decision(settled[0]) == old
        assert_close(turns.live.agent, core.live.agent)

    in_room(tmp_path / "other", scenario)
    core.storage.close()


def test_versions_kept_arms_and_held_out_tasks_move_too(tmp_path):
    core = Core(
        tmp_path / "a.db",
        PolicySettings(arms=["a", "b"], draws=5, sticky=True, control_share=0.3, control_arm="b"),
    )
    groups = {task: core.decide(task) for task in range(30)}
    core.become(
        PolicySettings(arms=["a", "b"], draws=6, sticky=True, control_share=0.3, control_arm="b")
    )
    core.decide("last")
    core.store()
    archive = read_policy(written(core, tmp_path / "x.policy"))
    assert [one.after for one in archive.versions] == [0, 30]
    (tmp_path / "other").mkdir()

    async def scenario(room):
        turns = await room.book.adopt("shop", archive)
        assert turns.live.version == 2
        assert [one.settings for one in room.book.versions("shop")] == [
            one.settings for one in core.storage.versions(core.record.id)
        ]
        for task, before in groups.items():
            reply = await room.decide(task)
            assert reply.arm == before.arm
            assert (reply.group == "control") == (before.group == "control")

    in_room(tmp_path / "other", scenario)
    core.storage.close()


def test_a_name_that_is_taken_is_refused_and_a_failure_leaves_nothing(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    live_on(core, np.random.default_rng(1), steps=10)
    archive = read_policy(written(core, tmp_path / "x.policy"))
    (tmp_path / "other").mkdir()

    async def scenario(room):
        await room.book.adopt("shop", archive)
        with pytest.raises(Exception, match="must be new"):
            await room.book.adopt("shop", archive)
        odd = b'{"kind":"reward","time":1.0,"ids":["nobody"],"values":[1.0]}'
        archive.events = [*archive.events, odd]
        with pytest.raises(Exception, match="does not fit"):
            await room.book.adopt("other", archive)
        assert [one.name for one in room.storage.policies()] == ["shop"]

    in_room(tmp_path / "other", scenario)
    core.storage.close()


def test_a_damaged_archive_is_refused(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    live_on(core, np.random.default_rng(1), steps=20)
    good = written(core, tmp_path / "x.policy").read_bytes()
    core.storage.close()
    whole = read_policy(tmp_path / "x.policy")
    bad, rng = tmp_path / "bad.policy", np.random.default_rng(2)
    for _ in range(60):
        data = bytearray(good)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        bad.write_bytes(data)
        try:
            found = read_policy(bad)
        except ValueError:
            continue
        assert (list(found.events), found.versions, found.salt) == (
            list(whole.events), whole.versions, whole.salt,
        )  # fmt: skip
    for data in (b"", b"nothing", good[: len(good) // 2]):
        bad.write_bytes(data)
        with pytest.raises(ValueError, match=r"archive|policy|agent"):
            read_policy(bad)
    with pytest.raises(ValueError, match="at most 10 bytes"):
        read_policy(tmp_path / "x.policy", most_bytes=10)


def test_events_that_somebody_changed_are_seen(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    live_on(core, np.random.default_rng(1), steps=20)
    path = written(core, tmp_path / "x.policy")
    core.storage.close()
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["events.jsonl"] = parts["events.jsonl"].replace(b"1", b"2", 1)
    with zipfile.ZipFile(tmp_path / "y.policy", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match=r"events.jsonl is not what was written"):
        read_policy(tmp_path / "y.policy")


@pytest.mark.parametrize("rewards", [None, "bernoulli"])
def test_the_file_of_an_agent_becomes_a_policy_that_goes_on(tmp_path, rewards):
    prior = GaussianHierarchy.armed(
        arms=["a", "b", "c"], hyper_std=1.0, task_std=0.3, noise_std=0.5
    )
    agent = Agent(None if rewards else prior, arms=["a", "b", "c"], rewards=rewards, seed=1)
    rng = np.random.default_rng(1)
    for i in range(40):
        decision = agent.decide(f"t{i % 5}")
        if i % 4:
            agent.reward(decision.id, float(rng.integers(0, 2)))
    agent.retire_arm("c")
    agent.save(tmp_path / "agent.hb")
    archive = read_policy(tmp_path / "agent.hb")
    (tmp_path / "other").mkdir()

    async def scenario(room):
        turns = await room.book.adopt("shop", archive)
        if rewards is None:
            assert_close(turns.live.agent, agent)
        assert turns.live.agent.tasks == agent.tasks
        assert turns.live.agent.offers == ("a", "b")
        assert [one.id for one in turns.live.agent.pending] == [one.id for one in agent.pending]
        pending = agent.pending[0].id
        assert (await room.reward(pending, 1.0)).status == "learned"
        assert (await room.reward(pending, 1.0)).status == "duplicate"
        assert (await room.decide("new")).arm in ("a", "b")
        agent.reward(pending, 1.0)
        if rewards is None:
            assert_close_but_new(turns.live.agent, agent)

    in_room(tmp_path / "other", scenario)


def assert_close_but_new(one, two):
    for task in two.tasks:
        np.testing.assert_allclose(
            one.task_table(task)["mean"], two.task_table(task)["mean"], rtol=1e-9, atol=1e-9
        )


def test_events_stay_in_the_file_until_they_are_asked_for(tmp_path):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    live_on(core, np.random.default_rng(1), steps=20)
    archive = read_policy(written(core, tmp_path / "x.policy"))
    stored = [data for _, data in core.storage.events(core.record.id)]
    assert list(archive.events) == list(archive.events) == stored
    (tmp_path / "x.policy").unlink()
    with pytest.raises(FileNotFoundError):
        list(archive.events)
    core.storage.close()


def edited(path, header=(), line=None):
    """A file whose header, or the first decision's line, says something else; digests are right."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(parts["policy.json"])
    if line is not None:
        lines = parts["events.jsonl"].splitlines()
        place = next(i for i, one in enumerate(lines) if b'"decisions"' in one)
        lines[place] = line(lines[place])
        parts["events.jsonl"] = b"".join(one + b"\n" for one in lines)
        digest = blake2b(parts["events.jsonl"], digest_size=32).hexdigest()
        told["digests"]["events.jsonl"] = digest
    for name, value in dict(header).items():
        (told["versions"][0] if name in told["versions"][0] else told)[name] = value
    parts["policy.json"] = json.dumps(told).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"created": float("nan")}, "created of version 1 must be a time, got nan"),
        ({"created": "x"}, "created of version 1 must be a time, got 'x'"),
        ({"after": -5}, "after of version 1 must be a number of events, .*, got -5"),
        ({"after": 10**9}, "after of version 1 must be a number of events, .*, got 1000000000"),
        ({"after": True}, "after of version 1 must be a number of events"),
        ({"salt": ""}, "salt must have 16 to 64 bytes, got 0"),
        ({"salt": "00" * 1000}, "salt must have 16 to 64 bytes, got 1000"),
    ],
)
def test_a_header_that_could_not_be_written_is_refused_by_name(tmp_path, header, words):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    core.decide("t")
    core.store()
    path = written(core, tmp_path / "x.policy")
    core.storage.close()
    edited(path)
    read_policy(path)
    edited(path, header)
    with pytest.raises(ValueError, match=words):
        read_policy(path)


@pytest.mark.parametrize("id", ["a\0b", "", "x" * 201, 5])
def test_an_id_that_no_decision_may_have_is_refused(tmp_path, id):
    core = Core(tmp_path / "a.db", KINDS["armed"])
    core.decide("t")
    core.store()
    path = written(core, tmp_path / "x.policy")
    core.storage.close()

    def changed(line):
        event = json.loads(line)
        event["decisions"][0]["id"] = id
        return json.dumps(event).encode()

    edited(path, line=changed)
    with pytest.raises(ValueError, match=r"id must be 1 to 200 printable|decisions have ids"):
        read_policy(path)
