"""Tables on a terminal."""

from io import StringIO

from rich.console import Console

from hierbandits.reporting.terminal_table import terminal_table


def _printed(table, width=60):
    console = Console(file=StringIO(), width=width)
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_numbers_are_to_the_right_and_brackets_stay():
    rows = [("[bold]a[/bold]", "1.5", "x"), ("b", "10", "[y]")]
    lines = _printed(terminal_table(("name", "n [1]", ""), rows, right=[1], title="The [title]"))
    assert lines == [
        "The [title]",
        "name            n [1]",
        "[bold]a[/bold]    1.5  x",
        "b                  10  [y]",
    ]


def test_long_cells_wrap_and_a_table_needs_no_title():
    lines = _printed(terminal_table(("a", "b"), [("x", "one two three four")], right=()), width=14)
    assert lines[0].split() == ["a", "b"]
    assert len(lines) == 3
