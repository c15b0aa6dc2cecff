"""Steps: stages that are run again where they were interrupted."""

import pytest

from hierbandits.agent.step import Step


class Stop(BaseException):
    """An interrupt."""


def _step(log, stops, undo=None):
    """Three stages that note whether they were begun before; `stops` says how often each fails."""

    def stage(name):
        def run(again):
            log.append((name, again))
            if stops.get(name, 0):
                stops[name] -= 1
                raise Stop

        return run

    return Step([stage(name) for name in "abc"], undo or (lambda: log.append("undone")))


def test_stages_run_in_order_and_once():
    log = []
    step = _step(log, {})
    step.run()
    assert log == [("a", False), ("b", False), ("c", False)]
    step.written.append(None)
    step.finish()
    assert len(log) == 3


def test_what_was_begun_is_begun_again_and_the_rest_follows():
    log = []
    step = _step(log, {"b": 3})
    step.written.append(None)
    with pytest.raises(Stop):
        step.run()
    for _ in range(2):
        with pytest.raises(Stop):
            step.finish()
    step.finish()
    assert log == [("a", False), ("b", False), *[("b", True)] * 3, ("c", False)]


def test_what_was_not_written_is_undone():
    log = []
    step = _step(log, {})
    step.finish()
    step.finish()
    assert log == ["undone", "undone"]
    Step().finish()  # nothing to do, nothing to undo
