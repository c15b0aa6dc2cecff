"""The API reference: a directive that shows all public names of a folder, from their docstrings.

    .. public:: agent

A public name without a docstring, and one that no page shows, is a warning: `make docs` fails.
"""

import importlib
import inspect
from typing import Any

from docstring_text import as_rst
from docutils import nodes
from docutils.statemachine import StringList
from public_names import every_name, folders, names_of, text_of_constant, undocumented
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from written_signature import record_fields, written_signature

log = logging.getLogger(__name__)


class Public(SphinxDirective):
    """All public names of a folder of the package."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The names in the order of `__all__`, constants first."""
        (folder,) = self.arguments
        lines = as_rst(inspect.getdoc(importlib.import_module(f"hierbandits.{folder}")).split("\n"))
        for name, value in names_of(folder).items():
            lines += ["", *_entry(name, value), ""]
        return _parsed(self, lines)


class PublicTable(SphinxDirective):
    """One line for every public name of the package's front."""

    def run(self) -> list[nodes.Node]:
        """A table of names and what they are, in one sentence."""
        lines = [".. list-table::", "   :widths: 35 65", "   :class: names", ""]
        for name, value in every_name().items():
            if name.count(".") == 1 or name.split(".")[1] in _front_modules():
                first = _text_of(name, value).split("\n\n")[0].replace("\n", " ")
                said = " ".join(as_rst([first])).strip()
                shown = name.replace("hierbandits", "hb", 1)
                lines += [f"   * - :py:obj:`{shown} <{name}>`", f"     - {said}"]
        return _parsed(self, lines)


def _front_modules() -> set[str]:
    import hierbandits as hb

    return {name for name in hb.__all__ if inspect.ismodule(getattr(hb, name))}


def _parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    where = directive.get_source_info()[0]
    return directive.parse_text_to_nodes("\n".join(StringList(lines, where)))


def _text_of(name: str, value: Any) -> str:
    if inspect.isclass(value) or inspect.isfunction(value):
        return inspect.getdoc(value) or ""
    return text_of_constant(name.split(".")[-1], value) or ""


def _entry(name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        return [f".. autoclass:: {name}", "   :members:", "   :inherited-members:"]
    if inspect.isfunction(value):
        return [f".. autofunction:: {name}"]
    text = as_rst(_text_of(name, value).split("\n"))
    if isinstance(value, dict):
        listed = ", ".join(f"``{key}``" for key in value)
        text += [f"Its names: {listed}.", ""]
    return [f".. py:data:: {name}", "", *(f"   {line}" for line in text)]


def process_signature(
    app: Sphinx, what: str, name: str, value: Any, options: Any, signature: str, result: str
) -> tuple[str, str] | None:
    """The signature as it was written."""
    if what in ("class", "exception") and getattr(value, "_is_protocol", False):
        return "", ""
    return written_signature(value) if what != "attribute" else None


def process_docstring(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """The docstring as reStructuredText, and the fields of plain records."""
    lines[:] = as_rst(lines)
    if what == "property" and (found := written_signature(value.fget)):
        lines += [f":type: {found[1]}", ""]
    if what != "class":
        return
    for field in record_fields(value) or ():
        note = as_rst([field.note])[0] if field.note else ""
        lines.append(f":param {field.name}: {note}")
    lines.append("")


def skip_member(
    app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    """Members that other packages wrote are described there."""
    function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
    home = getattr(function, "__module__", None) or ""
    return None if home.startswith("hierbandits") and not name.startswith("_") else True


def check(app: Sphinx, environment: BuildEnvironment) -> None:
    """Warn of public names without a docstring, and of those that no page shows."""
    for name in undocumented():
        log.warning("the public name %s has no docstring", name)
    shown = environment.domains.python_domain.objects
    for name in every_name():
        if name not in shown:
            log.warning("no page of the reference shows the public name %s", name)
    pages = {name.removeprefix("reference/") for name in environment.found_docs}
    for folder in folders():
        if folder not in pages:
            log.warning("the folder %s has no page of the reference", folder)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("public", Public)
    app.add_directive("public-table", PublicTable)
    app.connect("autodoc-process-signature", process_signature)
    app.connect("autodoc-process-docstring", process_docstring)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
