"""The script of a page: it takes names for text, and nothing from elsewhere."""

import re

from hierbandits.reporting.interval_lookup import IntervalLookup
from hierbandits.reporting.lookup_script import SCRIPT


def test_names_are_text_and_nothing_is_fetched():
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval", "fetch",
                 "XMLHttpRequest", "import", "</"):  # fmt: skip
        assert word not in SCRIPT
    assert SCRIPT.count("http") == 1  # the name of a kind of element
    assert "textContent" in SCRIPT


def test_the_script_reads_what_the_page_holds():
    """Every field that it asks for is one that IntervalLookup writes."""
    wanted = set(re.findall(r"\bdata\.(\w+)", SCRIPT))
    written = {"item", "group", "items", "groups", "homes", "remarks", "home"}
    assert wanted == written | {"mean", "reach", "homeMean", "homeReach"}
    assert written <= set(IntervalLookup.__slots__)


def test_brackets_are_closed():
    for opening, closing in ("()", "[]", "{}"):
        assert SCRIPT.count(opening) == SCRIPT.count(closing)
    assert SCRIPT.count("`") % 2 == 0
