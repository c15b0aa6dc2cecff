"""The file of a journal: one writer at a time, and nobody else touches it."""

import os

import pytest
from support.agents import ARMED, Clock, state
from support.processes import in_child

from hierbandits import Agent
from hierbandits.agent.journal import events_of
from hierbandits.agent.journal_file import JournalFile


def _agent(path, **options):
    agent = Agent(ARMED, seed=0, clock=Clock(), journal=path, **options)
    agent.reward(agent.decide("t").id, 1.0)
    return agent


def _refusal(path):
    """What an agent that goes on with a journal is told."""
    again = Agent.replay(path, ARMED, journal=path, clock=Clock())
    try:
        again.decide("t")
    except ValueError as error:
        return str(error)
    return "written"


def test_a_file_has_one_writer_at_a_time(tmp_path):
    path = tmp_path / "journal"
    agent = _agent(path)
    whole = path.read_bytes()
    assert "journal must not be written by another agent" in _refusal(path)
    assert "journal must not be written by another agent" in in_child(lambda: _refusal(path))
    assert path.read_bytes() == whole
    agent.decide("t")
    del agent
    assert _refusal(path) == "written"
    assert [event["number"] for event in events_of(path)] == [0, 1, 2, 3]


def test_a_child_does_not_keep_the_file_locked(tmp_path):
    path = tmp_path / "journal"
    agent = _agent(path)
    ready, go_on = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.write(ready[1], b"x")
        os.read(go_on[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    del agent
    written = _refusal(path)  # while the child lives
    os.write(go_on[1], b"x")
    os.waitpid(child, 0)
    for file in (*ready, *go_on):
        os.close(file)
    assert written == "written"


@pytest.mark.parametrize(
    ("meddle", "message"),
    [
        (lambda path: path.rename(path.with_name("old")), "must stay where it was opened"),
        (lambda path: path.unlink(), "must stay where it was opened"),
        (lambda path: path.with_name("new").replace(path), "must stay where it was opened"),
        (lambda path: os.truncate(path, 0), r"which left \d+ bytes in .*, got 0"),
        (
            lambda path: path.write_bytes(path.read_bytes() + b"x"),
            "must be written by its agent alone",
        ),
    ],
)
def test_a_file_that_others_change_is_refused_before_anything_changes(meddle, message, tmp_path):
    path = tmp_path / "journal"
    (tmp_path / "new").write_text("")
    agent = _agent(path)
    before = state(agent)
    meddle(path)
    left = path.read_bytes() if path.exists() else None
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            agent.decide("t")
    assert state(agent) == before
    assert (path.read_bytes() if path.exists() else None) == left


def test_a_journal_of_another_agent_is_not_written_to(tmp_path):
    path, other = tmp_path / "journal", tmp_path / "other"
    _agent(path)
    agent = _agent(other)
    agent.save(tmp_path / "agent.hb")
    again = Agent.load(tmp_path / "agent.hb", journal=path)
    with pytest.raises(ValueError, match="journal must be of the agent that writes it"):
        again.decide("t")


def test_a_file_that_is_refused_is_closed(tmp_path):
    def refuse(last):
        raise ValueError(last.decode())

    path = tmp_path / "journal"
    path.write_text("one\ntwo\ntorn")
    with pytest.raises(ValueError, match="two"):
        JournalFile(path, refuse)
    assert path.read_text() == "one\ntwo\ntorn"
    JournalFile(path, lambda last: None).append(b"three\n")
    assert path.read_text() == "one\ntwo\nthree\n"


def test_a_line_that_was_interrupted_twice_is_cut_off_before_the_next(tmp_path, monkeypatch):
    path = tmp_path / "journal"
    file = JournalFile(path, lambda last: None)
    file.append(b"one\n")
    write, fails = os.write, []

    def interrupted(*args):
        if not fails:
            return write(*args)
        write(*args)
        raise KeyboardInterrupt

    def cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    fails.append(True)
    with monkeypatch.context() as also:
        also.setattr(os, "ftruncate", cut)
        with pytest.raises(KeyboardInterrupt):
            file.append(b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    fails.clear()
    file.append(b"three\n")
    assert path.read_bytes() == b"one\nthree\n"
