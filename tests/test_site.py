"""The documentation site: its builder refuses what is broken, and shows docstrings as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

import hierbandits as hb

ROOT = Path(__file__).parent.parent
PARTS = ROOT / "docs" / "sphinx_parts"


@pytest.fixture(autouse=True)
def _parts(monkeypatch):
    monkeypatch.syspath_prepend(str(PARTS))


def test_what_is_broken_fails_the_build(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()
    (source / "index.md").write_text(
        "# Page\n\n[gone](gone.md), [no such part](other.md#nowhere), [right](other.md#a-part)\n\n"
        "![a picture](images/none.png)\n"
    )
    (source / "other.md").write_text("# Other\n\n## A part\n\nText.\n")
    words = ["-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "--no-color"]
    done = subprocess.run(
        [sys.executable, *words, "-c", ROOT / "docs", source, out],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "index.md:3: WARNING: 'myst' cross-reference target not found: 'gone.md'" in done.stderr
    assert "'nowhere'" in done.stderr
    assert "a-part" not in done.stderr
    assert "image file not readable: images/none.png" in done.stderr
    assert "other.md: WARNING: document isn't included in any toctree" in done.stderr
    assert "no page of the reference shows the public name hierbandits.Agent\n" in done.stderr
    assert "the folder agent has no page of the reference" in done.stderr


def test_a_public_name_without_a_docstring_is_found(monkeypatch):
    from public_names import undocumented

    assert undocumented() == []
    monkeypatch.setattr(hb.evaluate, "__doc__", None)
    monkeypatch.setattr(hb.Agent.decide, "__doc__", None)
    assert set(undocumented()) == {"hierbandits.evaluate", "hierbandits.Agent.decide"}


def test_every_name_of_the_front_is_in_the_reference():
    from public_names import every_name, folders

    names = every_name()
    for name in hb.__all__:
        inner = [each for each in names if each.startswith(f"hierbandits.{name}.")]
        assert f"hierbandits.{name}" in names or inner, name
    pages = {path.stem for path in (ROOT / "docs" / "reference").glob("*.rst")} - {"index"}
    assert pages == set(folders())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See `Belief`, `x[0]` and a_b * c_.",
         r"See :py:obj:`Belief`, ``x[0]`` and a\_b \* c\_."),
        ("Text.\n\n    mu ~ N(0, 1)\n    y = x * mu", "Text.\n\n::\n\n        mu ~ N(0, 1)\n"
         "        y = x * mu"),
        ("f(x) / g(x)\n    * h(x)", "::\n\n    f(x) / g(x)\n        * h(x)"),
        ("1. one\n   line\n2. two", "1. one\n   line\n2. two"),
    ],
)  # fmt: skip
def test_a_docstring_is_shown_as_it_is(text, expected):
    from docstring_text import as_rst

    assert "\n".join(as_rst(text.split("\n"))).strip() == expected


def test_signatures_are_as_they_were_written():
    from written_signature import record_fields, written_signature

    arguments, result = written_signature(hb.Agent.decide)
    assert arguments.startswith("(task: TaskName, arms: Any=None, *, eligible: Any=None")
    assert result == "Decision"
    assert written_signature(hb.Reading)[0].startswith("(*, strip: bool = False, merge_names: ")
    fields = {field.name: field for field in record_fields(hb.Reading)}
    assert (fields["strip"].kind, fields["strip"].default) == ("bool", "False")
    assert fields["strip"].note.startswith("remove spaces around text; ")
    assert record_fields(hb.Agent) is None
