"""Links out of docs/ to pages of the repository lead to the pages of the site that hold them."""

from sphinx.application import Sphinx

PAGES = {"../CONTRIBUTING.md": "contributing.md", "../CHANGELOG.md": "changelog.md"}


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Change the targets of links."""
    for target, ours in PAGES.items():
        source[0] = source[0].replace(f"]({target}", f"]({ours}")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
