"""Progress: who learns of it, and when a bar appears."""

import sys
from io import StringIO
from threading import Event

import pytest

from hierbandits.reporting import progress
from hierbandits.reporting.progress import Steps, progress_bar

ERASED = "\x1b[2K"


class Terminal(StringIO):
    """Where a bar would appear."""

    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal, self.is_used = is_terminal, Event()

    def isatty(self):
        return self.is_terminal

    def write(self, text):
        self.is_used.set()
        return super().write(text)


class HandTimer:
    """A timer whose time is up when a test says so."""

    started = ()

    def __init__(self, seconds, function):
        self.seconds, self.function = seconds, function
        self.is_cancelled = self.is_joined = False

    def start(self):
        HandTimer.started += (self,)

    def cancel(self):
        self.is_cancelled = True

    def join(self):
        assert self.is_cancelled
        self.is_joined = True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(progress, "Timer", HandTimer)
    monkeypatch.setattr(HandTimer, "started", ())
    monkeypatch.setenv("TERM", "xterm")

    def make(is_terminal=True):
        made = Terminal(is_terminal)
        monkeypatch.setattr(sys, "stderr", made)
        return made

    return make


def test_steps_are_counted_and_told():
    calls = []
    steps = Steps(10, lambda done, total: calls.append((done, total)))
    assert (steps.done, steps.total) == (0, 10)
    steps.advance()
    steps.advance(3)
    steps.update(7, 20)
    steps.advance(2)
    assert calls == [(1, 10), (4, 10), (7, 20), (9, 20)]
    assert (steps.done, steps.total) == (9, 20)
    quiet = Steps(None)
    quiet.advance(5)
    assert (quiet.done, quiet.total) == (5, None)


def test_steps_pass_on_to_other_steps():
    calls = []
    outer = Steps(None, lambda done, total: calls.append((done, total)))
    inner = Steps(4, outer.update)
    inner.advance(4)
    assert calls == [(4, 4)]
    assert (outer.done, outer.total) == (4, 4)


def test_a_function_is_called_and_no_bar_appears(terminal):
    shown, calls = terminal(), []
    with progress_bar("Work", 3, lambda done, total: calls.append((done, total))) as steps:
        steps.advance(3)
    assert calls == [(3, 3)]
    assert shown.getvalue() == ""


@pytest.mark.parametrize(("progress", "is_terminal"), [(False, True), (None, False)])
def test_nobody_is_told(progress, is_terminal, terminal):
    shown = terminal(is_terminal)
    with progress_bar("Work", 3, progress) as steps:
        steps.advance(2)
        assert steps.done == 2
    assert HandTimer.started == ()
    assert shown.getvalue() == ""


@pytest.mark.parametrize(("progress", "seconds"), [(None, progress.PATIENCE), (True, 0.0)])
def test_a_bar_appears_when_its_time_is_up_and_goes_with_the_block(progress, seconds, terminal):
    shown = terminal()
    with progress_bar("Some work", 8, progress) as steps:
        steps.advance(2)
        (timer,) = HandTimer.started
        assert timer.seconds == seconds
        assert shown.getvalue() == ""
        timer.function()
        assert "Some work" in shown.getvalue()
        assert "25%" in shown.getvalue()
        assert not timer.is_cancelled
        steps.update(6, 16)
    assert timer.is_joined
    assert "38%" in shown.getvalue()
    assert shown.getvalue().endswith(ERASED)


def test_short_work_has_no_bar(terminal):
    shown = terminal()
    with progress_bar("Work", None, None) as steps:
        steps.advance()
    (timer,) = HandTimer.started
    assert timer.is_joined
    assert "Work" not in shown.getvalue()


def test_an_error_ends_the_bar(terminal):
    shown = terminal()

    def work():
        with progress_bar("Work", 2, True):
            HandTimer.started[0].function()
            raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        work()
    assert "Work" in shown.getvalue()
    assert shown.getvalue().endswith(ERASED)


def test_without_rich_there_is_no_bar(terminal, monkeypatch):
    shown = terminal()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with progress_bar("Work", 2, True) as steps:
        steps.advance()
        assert steps.done == 1
    assert HandTimer.started == ()
    assert shown.getvalue() == ""


def test_the_time_is_kept_beside_the_work(monkeypatch):
    shown = Terminal(True)
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Work", 2, True):
        assert shown.is_used.wait(60)  # by the timer's thread
    assert "Work" in shown.getvalue()


def test_anything_else_is_refused():
    with pytest.raises(ValueError, match="progress must be True, False, None or a function"):
        progress_bar("Working", 3, "yes").__enter__()
