"""The files of the page, which lie in this package and are read once."""

import re
from functools import cache
from importlib.resources import files

PAGE = "index.html"
_MEDIA = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_NAME = re.compile(r"[a-z_]{1,40}\.(html|css|js|svg)")


@cache
def _all() -> dict[str, tuple[bytes, str]]:
    """Every file of the page by its name."""
    found = {}
    for one in files("hierbandits.dashboard").joinpath("page").iterdir():
        match = _NAME.fullmatch(one.name)
        if match:
            found[one.name] = one.read_bytes(), _MEDIA[match[1]]
    return found


def page_file(name: str) -> tuple[bytes, str] | None:
    """The content of a file of the page and its media type; None if there is no such file."""
    return _all().get(name)
