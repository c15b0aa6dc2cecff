"""The documentation is true: its examples run, its tables name what exists."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hierbandits"


def _blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [p for p in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
     if _blocks(p)],
    ids=lambda page: page.name,
)  # fmt: skip
def test_every_example_of_a_page_runs(page, tmp_path, monkeypatch):
    """A page's blocks run in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in _blocks(page):
        exec(compile(block, str(page), "exec"), names)


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
