"""Names as people see them."""

import pytest
from matplotlib.figure import Figure

from hierbandits.reporting.html_page import HtmlPage
from hierbandits.reporting.shown_name import figure_name, printable, shown_cell, shown_name
from hierbandits.reporting.text_table import text_table

ODD = {
    "plain é 日本": "plain é 日本",
    "\x1b[2J\x1b]0;x\x07": r"\x1b[2J\x1b]0;x\x07",
    "a\nb\tc\rd": r"a\nb\tc\rd",
    "\u202egpj.exe": r"\u202egpj.exe",
    "\x9b31m": r"\x9b31m",
    "\ud800": r"\ud800",
}


@pytest.mark.parametrize("name", list(ODD))
def test_what_does_not_print_is_spelt_out(name):
    for shown in (printable(name), shown_name(name), shown_cell(name), figure_name(name)):
        assert shown == ODD[name]
        assert shown.isprintable()


def test_long_names_are_cut():
    assert shown_name("x" * 60) == "x" * 60
    assert shown_name("x" * 70_000) == "x" * 59 + "…"
    assert shown_cell("x" * 70_000) == "x" * 299 + "…"
    assert figure_name("x" * 28) == "x" * 28
    assert figure_name("a" * 70_000 + "b" * 9) == "a" * 18 + "…" + "b" * 9
    assert shown_name(10**70) == "1" + "0" * 58 + "…"
    assert printable("x" * 70_000) == "x" * 70_000  # a text is not


@pytest.mark.parametrize("name", ["$", "$x$", r"$\frac$", "a$b", r"\$", "$$"])
def test_a_dollar_begins_no_formula(name):
    """Matplotlib draws the name as it is."""
    shown = figure_name(name)
    assert not is_math_text(shown)
    assert shown.replace(r"\$", "$") == name
    figure = Figure()
    figure.text(0, 0, shown)
    figure.canvas.draw()


def is_math_text(text):
    return (text.count("$") - text.count(r"\$")) % 2 == 0 and text.count("$") > text.count(r"\$")


def test_tables_and_pages_show_names_so():
    table = text_table(["task", "n"], [["\x1b[31m" + "x" * 70_000, "1"]])
    assert "\x1b" not in table
    assert max(map(len, table.splitlines())) < 80
    page = HtmlPage("title")
    page.text("by \x1b[31m")
    page.table("\x1b", ["task"], [["x" * 70_000]])
    assert "\x1b" not in page.html()
    assert "x" * 301 not in page.html()
