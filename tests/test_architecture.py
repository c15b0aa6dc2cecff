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


def smuggled(tree):
    """Ways around an import, or around a private name, that the other tests do not follow."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            words = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
            texts = [word for word in words if isinstance(word, str)]
            if name in ("import_module", "__import__"):
                yield from (text for text in texts if text.startswith("hierbandits"))
            if name in ("getattr", "setattr", "hasattr", "attrgetter"):
                yield from (text for text in texts if is_private(text))
        elif isinstance(node, ast.Assign):
            front = getattr(node.value, "id", None)
            yield from {"hb", "hierbandits"} & {front}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nobody_goes_around_the_layers(path):
    assert list(smuggled(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize(
    "code",
    [
        "importlib.import_module('hierbandits.agent')",
        "__import__('hierbandits.agent')",
        "getattr(belief, '_nodes')",
        "front = hb",
    ],
)
def test_a_way_around_is_seen(code):
    assert list(smuggled(ast.parse(code)))


def test_few_modules_lie_loose_in_the_root():
    loose = [path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(loose) <= MOST_LOOSE_MODULES, loose


def test_no_two_files_share_a_name():
    counts = Counter(path.name for path in FILES if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(
    "path",
    [
        path
        for top in ("src", "tests", "bench", "docs", "examples")
        for path in (ROOT / top).rglob("*.py")
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_file_is_long(path):
    lines = path.read_text().count("\n")
    assert lines <= MOST_LINES, f"{lines} lines: perhaps two nouns"


def private_names(tree):
    """The private attributes, methods and functions that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_private(name):
    """Whether a name is private to its folder; `_raw_` ones are private to the package."""
    return name.startswith("_") and not name.startswith(("__", "_raw_"))


@cache
def homes():
    """The folders, or root modules, that define each private name."""
    found = {}
    for path in FILES:
        for name in filter(is_private, private_names(ast.parse(path.read_text()))):
            if isinstance(name, str):
                found.setdefault(name, set()).add(room(path))
    return found


def reached_into(tree):
    """The private names that a file asks of objects other than its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own:
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hierbandits"):
            yield from (alias.name for alias in node.names if is_private(alias.name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_state_is_private_to_its_folder(path):
    """`belief._nodes` is for beliefs/ alone; a name that two folders define is nobody's."""
    for name in reached_into(ast.parse(path.read_text())):
        assert homes().get(name, {room(path)}) == {room(path)}, f"{path.name} reaches for {name}"


WITHOUT_TESTS = {"types", "model", "environment", "fit", "loops", "node_arrays", "arm_arrays"}
WITHOUT_TESTS |= {"mean_reward"}
"""Modules without behaviour: type aliases, protocols and plain records."""

WHOLE = {"architecture", "docs", "examples", "main", "memory_safety", "pickles", "public_surface"}
WHOLE |= {
    "alerts",
    "dashboard_rollout",
    "dashboard_shared",
    "dashboard",
    "dashboard_access",
    "service_page",
    "site",
    "three_persons",
}
"""Tests of the project as a whole."""


def test_tests_mirror_the_package():
    modules = {path.relative_to(PACKAGE).with_suffix("") for path in FILES}
    modules = {module for module in modules if not module.name.startswith("__")}
    tested = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        place = path.relative_to(ROOT / "tests")
        about = place.stem.removeprefix("test_")
        homes = [
            module
            for module in modules
            if module.parent == place.parent
            and (about == module.name or about.startswith(f"{module.name}_"))
        ]
        assert homes or (place.parent == Path() and about in WHOLE), f"{place} tests no module"
        tested.update(sorted(homes, key=lambda module: len(module.name))[-1:])
    missing = {str(module) for module in modules - tested if module.name not in WITHOUT_TESTS}
    assert missing == set()
