import re
from importlib.resources import files

import pytest

from hierbandits.dashboard.page_files import PAGE, page_file

NAMES = sorted(one.name for one in files("hierbandits.dashboard").joinpath("page").iterdir())
SCRIPTS = [name for name in NAMES if name.endswith(".js")]


def text(name):
    return page_file(name)[0].decode()


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_served_and_small_enough_to_read(name):
    content, media = page_file(name)
    assert content
    assert media.startswith(
        {"js": "text/javascript", "css": "text/css"}.get(name[-3:].strip("."), "")
    )
    assert content.count(b"\n") <= 350


@pytest.mark.parametrize(
    "name", ["", "../page_files.py", "main.py", "INDEX.html", "index.html/", "\0"]
)
def test_nothing_else_is(name):
    assert page_file(name) is None


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_files_that_are_there_and_names_that_these_export(name):
    for names, other in re.findall(r"import \{([^}]+)\} from \"\./(\w+\.js)\"", text(name)):
        exported = set(re.findall(r"export (?:async )?(?:function|class|const) (\w+)", text(other)))
        assert {one.strip() for one in names.split(",")} <= exported, other


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_fetched_from_elsewhere_and_no_text_becomes_html(name):
    allowed = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml")
    assert all(url.startswith(allowed) for url in re.findall(r"https?://[^\s\"'`]+", text(name)))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text(name)
    )


def test_the_page_has_no_script_or_style_of_its_own():
    page = text(PAGE)
    assert not re.search(r"<script(?![^>]*src=)|<style|style=|\son\w+=", page)
