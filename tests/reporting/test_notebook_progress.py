"""Progress in notebooks: a line that changes, after some patience.

IPython is no dependency: a stand-in records what would be shown.
"""

import sys
from types import SimpleNamespace

import pytest

from hierbandits.reporting.notebook_progress import NotebookLine, in_notebook
from hierbandits.reporting.progress import progress_bar


@pytest.fixture
def shown(monkeypatch):
    """What a notebook would have shown, each line in the place of the one before."""
    lines = []

    def display(data, *, raw, display_id):
        assert raw
        assert display_id
        assert not lines, "a second place would be a second line"
        lines.append(data["text/plain"])
        return SimpleNamespace(update=lambda data, *, raw: lines.append(data["text/plain"]))

    shell = SimpleNamespace(kernel=object())
    kernel = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", kernel.display)
    return lines


def test_a_line_takes_the_place_of_the_last_and_goes(shown):
    line = NotebookLine("Deciding", patience=0.0)
    line.update(50, 1000)
    line.update(51, 1000)  # too soon
    line.close()
    assert shown == ["Deciding: 5 % (50 of 1,000)", ""]


def test_a_short_work_shows_nothing(shown):
    line = NotebookLine("Deciding", patience=60.0)
    line.update(1, None)
    line.close()
    assert shown == []


def test_bars_are_lines_in_a_notebook(shown):
    assert in_notebook()
    with progress_bar("Reading", None, True) as steps:
        steps.advance(1200)
    assert shown == ["Reading: 1,200", ""]
    with progress_bar("Reading", None, False) as steps:
        steps.advance(7)
    assert len(shown) == 2


def test_a_process_is_no_notebook_unless_it_is_a_kernel(monkeypatch):
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not in_notebook()
