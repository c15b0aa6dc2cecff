"""The public surface: every name that the package and its folders offer, and where it is shown."""

import importlib
import inspect
import pkgutil
from typing import Any

import hierbandits

INSIDE = ("cli", "dashboard", "kernels", "service", "workers")
"""Folders whose names are for the package itself; the page, commands and service have their own."""


def folders() -> list[str]:
    """The folders of the package that offer names."""
    names = [one.name for one in pkgutil.iter_modules(hierbandits.__path__) if one.ispkg]
    return [name for name in names if name not in INSIDE]


def names_of(folder: str) -> dict[str, Any]:
    """What a folder offers, by the shortest name that people write for it."""
    module = importlib.import_module(f"hierbandits.{folder}")
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.ismodule(value):
            for inner in getattr(value, "__all__", ()):
                found[shortest(folder, inner, getattr(value, inner))] = getattr(value, inner)
        else:
            found[shortest(folder, name, value)] = value
    return found


def shortest(folder: str, name: str, value: Any) -> str:
    """`hierbandits.Agent`, or `hierbandits.bounds.oracle`, or `hierbandits.models.Model`."""
    if getattr(hierbandits, name, None) is value:
        return f"hierbandits.{name}"
    for front in hierbandits.__all__:
        module = getattr(hierbandits, front)
        if inspect.ismodule(module) and getattr(module, name, None) is value:
            return f"hierbandits.{front}.{name}"
    return f"hierbandits.{folder}.{name}"


def every_name() -> dict[str, Any]:
    """All public names, and what they stand for."""
    return {name: value for folder in folders() for name, value in names_of(folder).items()}


def members(kind: type) -> dict[str, Any]:
    """The public methods and properties of a class that the package itself wrote."""
    found = {}
    for name in dir(kind):
        plain = inspect.getattr_static(kind, name)
        function = getattr(plain, "__func__", None) or getattr(plain, "fget", None) or plain
        is_ours = str(getattr(function, "__module__", "")).startswith("hierbandits")
        if not name.startswith("_") and inspect.isfunction(function) and is_ours:
            found[name] = function
    return found


def text_of_constant(name: str, value: Any) -> str | None:
    """The text below the line that defines a constant, wherever that is."""
    from sphinx.pycode import ModuleAnalyzer

    for one in pkgutil.walk_packages(hierbandits.__path__, "hierbandits."):
        inside = one.name.split(".")[1]
        if inside in INSIDE or inside.startswith("__"):
            continue
        module = importlib.import_module(one.name)
        if vars(module).get(name) is value:
            written = ModuleAnalyzer.for_module(one.name).find_attr_docs().get(("", name))
            if written:
                return "\n".join(written).strip()
    return None


def undocumented() -> list[str]:
    """Public names, and public methods of public classes, that nobody has described."""
    found = []
    for name, value in every_name().items():
        if inspect.isclass(value):
            found += [f"{name}.{each}" for each, of in members(value).items() if not of.__doc__]
        is_described = inspect.isclass(value) or inspect.isfunction(value)
        text = value.__doc__ if is_described else text_of_constant(name.split(".")[-1], value)
        if not text:
            found.append(name)
    return found
