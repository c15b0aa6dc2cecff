"""The text of figures: no boxes without a word."""

import warnings

import pytest
from matplotlib.font_manager import FontEntry, FontProperties, findfont

from hierbandits.reporting import figure_text
from hierbandits.reporting.figure import panels
from hierbandits.reporting.figure_text import prepare_text

NOBODYS = "\U000f0000"  # a private character, which no font has


@pytest.fixture(autouse=True)
def fresh():
    figure_text._other_fonts.cache_clear()
    figure_text._shapes_text.cache_clear()
    yield
    figure_text._other_fonts.cache_clear()
    figure_text._shapes_text.cache_clear()


def _figure(names, title=""):
    figure, (axes,) = panels(1)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.set_title(title)
    return figure, axes


def _labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_what_the_usual_font_has_is_left_alone():
    names = ["plain", "é ß Ω я", r"\$1.99_off\$", "_a\\b"]
    figure, axes = _figure(names, r"$\sigma_0$")
    assert prepare_text(figure) == ""
    figure.canvas.draw()
    assert _labels(axes) == names
    assert axes.get_title() == r"$\sigma_0$"


def test_a_name_that_no_font_has_becomes_a_number_that_the_caption_explains():
    figure, axes = _figure([f"{NOBODYS} one", "two", r"\$" + NOBODYS, "two"], f"{NOBODYS} one")
    note = prepare_text(figure)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # matplotlib warns of every box
        figure.canvas.draw()
    assert _labels(axes) == ["[1]", "two", "[2]", "two"]
    assert axes.get_title() == "[1]"
    assert note.endswith(f"numbers stand for them: [1] {NOBODYS} one, [2] ${NOBODYS}.")
    assert axes.get_yticklabels()[0].get_fontsize() == 7


def test_a_caption_lists_so_many_names():
    figure, _ = _figure([f"{NOBODYS}{i}" for i in range(45)])
    note = prepare_text(figure)
    assert f"[40] {NOBODYS}39 and 5 more." in note
    assert "[41]" not in note


def test_another_font_of_the_machine_draws_what_the_usual_one_lacks(monkeypatch):
    """The usual font lacks a letter; a font that has it is found, and those of boxes are not."""
    from matplotlib.font_manager import fontManager

    path = findfont("DejaVu Serif")

    class Short:
        family_name = "DejaVu Sans"

        def get_charmap(self):
            return {ord(letter): 1 for letter in "ab0123456789."}

    monkeypatch.setattr(figure_text, "_usual_font", Short)
    entries = [
        FontEntry(fname="nowhere.ttf", name="Broken CJK"),
        FontEntry(fname=path, name="Last Resort High-Efficiency"),
        FontEntry(fname=path, name="Some Color Emoji"),
        FontEntry(fname=path, name="DejaVu Serif", style="italic"),
        FontEntry(fname=path, name="DejaVu Serif"),
    ]
    monkeypatch.setattr(fontManager, "ttflist", entries)
    figure, axes = _figure(["a", "bz"])
    axes.set_xticks([])
    assert prepare_text(figure) == ""
    first, second = axes.get_yticklabels()
    assert first.get_fontfamily() == FontProperties().get_family()
    assert second.get_fontfamily() == ["DejaVu Sans", "DejaVu Serif"]
    assert _labels(axes) == ["a", "bz"]


def test_an_older_matplotlib_draws_no_letters_that_join_or_run_the_other_way(monkeypatch):
    hebrew = "\u05e9\u05dc\u05d5\u05dd"
    monkeypatch.setattr("matplotlib.__version__", "3.11.0")
    figure, axes = _figure([hebrew, "b"])
    assert prepare_text(figure) == ""
    assert _labels(axes) == [hebrew, "b"]
    figure_text._shapes_text.cache_clear()
    monkeypatch.setattr("matplotlib.__version__", "3.8.4")
    assert prepare_text(figure).endswith(f"[1] {hebrew}.")
    assert _labels(axes) == ["[1]", "b"]


def test_shortened_names_are_explained():
    figure, _ = _figure(["very lo…ng name"])
    assert prepare_text(figure).startswith("In names, … stands for what is left out")
