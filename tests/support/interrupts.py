"""Errors that come from outside, between any two statements of the package or at any call."""

import ast
import signal
import sys
import weakref
from functools import cache
from inspect import CO_GENERATOR
from pathlib import Path

import hierbandits
from hierbandits.agent.agent_state import AgentState

PACKAGE = str(Path(hierbandits.__file__).parent)


@cache
def _starts(name):
    """The lines of a file on which statements begin.

    Not the parts of a statement: Python lets no signal in between the stores of one assignment.
    And not `with`: it lets none in between a lock's taking and the block, or the block's end and
    the lock's release, but a tracer can.
    """
    tree = ast.parse(Path(name).read_text())
    found = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return {node.lineno for node in found if not isinstance(node, ast.With)}


def _lets_out(frame):
    """Whether an error can leave a frame.

    None can where Python ends a generator early, nor in what is called when an object goes.
    """
    names = [each.f_code.co_filename for each in (frame, frame.f_back) if each]
    return not frame.f_code.co_flags & CO_GENERATOR and weakref.__file__ not in names


class Interrupt:
    """Raises an error at one of the calls, returns and statements of the package, by its number.

    Calls of Python functions elsewhere count too.  A second number is for what `finish` does after
    that, and so on; the counts begin anew each time.
    """

    def __init__(self, error, *places):
        self.error = error
        self.places = list(places)
        self.passed = 0

    def __enter__(self):
        sys.settrace(self._called)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _pass(self):
        self.passed += 1
        if self.places and self.passed > self.places[0]:
            self.passed = 0
            del self.places[0]
            raise self.error

    def _called(self, frame, event, _):
        if frame.f_code.co_filename == __file__ or not _lets_out(frame):
            return None
        self._pass()
        return self._inside if frame.f_code.co_filename.startswith(PACKAGE) else None

    def _inside(self, frame, event, _):
        if event == "return" or (
            event == "line" and frame.f_lineno in _starts(frame.f_code.co_filename)
        ):
            self._pass()
        return self._inside


def interrupted(action, error, *places):
    """Do something that is interrupted at these places; returns whether it was.

    An error unsets the tracer.  So the next is awaited from where the package begins to clean up.
    """
    finish, interrupt = AgentState.finish, Interrupt(error, *places)

    def cleaning(state):
        with interrupt:
            finish(state)

    AgentState.finish = cleaning
    try:
        with interrupt:
            action()
    except error:
        return True
    finally:
        AgentState.finish = finish
    return False


class Alarm(BaseException):
    """What the handler of a signal raises."""


def alarmed(action, delay):
    """Do something that a real signal interrupts after a delay; returns whether it came in time."""
    is_on = True

    def ring(_, frame):
        nonlocal is_on
        if is_on and _lets_out(frame):
            is_on = False
            raise Alarm

    signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            action()
        finally:
            is_on = False
    except Alarm:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    return False


def num_places(action):
    """The number of places at which an action can be interrupted."""
    with Interrupt(KeyboardInterrupt, sys.maxsize) as counted:
        action()
    return counted.passed
