"""The layout: layers that import one way, few loose modules, names that are unique."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "hierbandits"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LOOSE_MODULES = 8
MOST_LINES = 350


@cache
def places():
    """The place of each folder and root module in the table of docs/design.md."""
    table = (ROOT / "docs" / "design.md").read_text().split("## Layers", 1)[1].split("\n\n")
    rows = next(part for part in table if part.startswith("| layer")).splitlines()[2:]
    names = [name for row in rows for name in re.findall(r"`(\w+)/?`", row.split("|")[2])]
    assert len(set(names)) == len(names)
    return {name: place for place, name in enumerate(names)}


def room(path):
    """The folder of a file, or its own name if it lies in the root."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def public_names():
    """The folder from which the package's front takes each public name."""
    found = {}
    for node in ast.parse((PACKAGE / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom):
            inner = node.module.partition(".")[2]
            for alias in node.names:
                found[alias.name] = inner.split(".")[0] or alias.name
    return found


def rooms_imported(tree):
    """The folders and root modules that a file takes anything from, whatever the import's form."""
    fronts = set()  # names under which the package itself is known
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            top, _, inner = (node.module or "").partition(".")
            if top == "hierbandits":
                for alias in node.names:
                    yield inner.split(".")[0] or public_names().get(alias.name, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top, _, inner = alias.name.partition(".")
                if top == "hierbandits":
                    if inner:
                        yield inner.split(".")[0]
                    fronts.add(alias.asname or top)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in fronts
        ):
            yield public_names().get(node.attr, node.attr)


def test_the_table_of_layers_has_every_folder_and_root_module():
    assert {room(path) for path in FILES} - {"__init__"} == set(places())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_from_its_own_layer_and_those_before_it(path):
    if room(path) == "__init__":
        return  # the front takes from everywhere
    for name in rooms_imported(ast.parse(path.read_text())):
        if name != "__version__":
            assert places()[name] <= places()[room(path)], f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "code",
    [
        "from hierbandits.agent.agent import Agent",
        "from hierbandits.agent import Agent",
        "from hierbandits import Agent",
        "from hierbandits import agent",
        "import hierbandits.agent.agent",
        "import hierbandits as hb\nhb.Agent()",
        "import hierbandits\n\ndef f():\n    return hierbandits.Agent",
    ],
)
def test_an_import_is_seen_in_every_form(code):
    assert set(rooms_imported(ast.parse(code))) == {"agent"}


def test_few_modules_lie_loose_in_the_root():
    loose = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(loose) <= MOST_LOOSE_MODULES, loose


def test_no_two_files_share_a_name():
    counts = Counter(path.name for path in FILES if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in counts.items() if count > 1] == []
