"""The documentation is true: its examples run, its tables name what exists."""

import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hierbandits"


def _blocks(path):
    """The Python blocks of a page, each with the indented text right below it, if any."""
    pattern = r"^```python\n(.*?)^```\n(?:\n((?:    [^\n]*\n|\n)+))?"
    return re.findall(pattern, path.read_text() + "\n", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [p for p in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
     if _blocks(p)],
    ids=lambda page: page.name,
)  # fmt: skip
def test_every_example_of_a_page_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    """A page's blocks run in order, in one namespace; what is shown below one is its output."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block, shown in _blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(page), "exec"), names)
        assert is_part(shown, printed.getvalue()), f"{printed.getvalue()}\nis not\n{shown}"


def is_part(shown, printed):
    """Whether a page shows a part of what was printed: lines may be broken, "..." is any text."""
    pieces = [" ".join(piece.split()) for piece in shown.split("...")]
    pattern = ".*".join(re.escape(piece) for piece in pieces)
    return re.search(pattern, " ".join(printed.split())) is not None


def test_what_is_shown_must_be_what_is_printed():
    assert is_part("", "anything")
    assert is_part("odds are\n 3 to 1 ...", "The odds are 3 to\n1, and more")
    assert not is_part("odds are 3 to 1", "odds are 4 to 1")
    assert not is_part("one ... three", "three two one")


def test_pages_show_what_their_examples_print():
    shown = {page.stem: sum(bool(text) for _, text in _blocks(page))
             for page in (ROOT / "docs").glob("*.md")}  # fmt: skip
    assert shown["tutorial"] >= 4
    assert shown["scientist"] >= 3


def _table(page, heading):
    """The rows of the first table below a heading, as lists of cells."""
    text = page.read_text().split(heading, 1)[1]
    rows = []
    for line in text.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


@pytest.mark.parametrize("page", ["equations", "paper"])
def test_the_papers_pages_name_functions_and_tests_that_exist(page):
    rows = _table(ROOT / "docs" / f"{page}.md", "# ")
    assert len(rows) >= 10
    for _, functions, tests, *_ in rows:
        for name in re.findall(r"`([\w.]+)`", functions):
            module, *rest = name.split(".")
            found = importlib.import_module(f"hierbandits.{module}")
            for part in rest:
                nested = f"{found.__name__}.{part}"
                try:
                    found = getattr(found, part)
                except AttributeError:
                    found = importlib.import_module(nested)
        for file, test in re.findall(r"`(test_\w+)::(\w+)`", tests):
            (path,) = (ROOT / "tests").rglob(f"{file}.py")
            assert f"def {test}(" in path.read_text()


def test_every_mutant_is_of_code_that_is_there():
    from mutants import MUTANTS

    for name, old, new in MUTANTS:
        assert old != new
        assert old in (PACKAGE / name).read_text(), f"{name} has no {old!r}"


def test_the_two_commands_of_the_readme_are_targets():
    readme = (ROOT / "README.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for command in ("demo", "test"):
        assert f"make {command}" in readme
        assert f"\n{command}:" in makefile


def test_every_policy_is_documented():
    from hierbandits import POLICIES

    readme = (ROOT / "README.md").read_text()
    for name in POLICIES:
        assert f"`{name}`" in readme
