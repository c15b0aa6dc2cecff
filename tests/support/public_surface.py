"""Everything that the package offers: walked, so that a new name is there by itself."""

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from typing import Any

import hierbandits

OPERATORS = ("__call__", "__add__", "__getitem__", "__len__", "__iter__")

NOT_CALLED = ("cli", "client", "experiments", "service")
"""The command line, the service and its client, which have hostile tests of their own, and the
paper's experiments, which take minutes: none takes arrays."""


@dataclass(frozen=True)
class Target:
    """A function or a method of the public surface."""

    name: str
    owner: type | None  # the class of the object that a method needs; None for all else
    function: Any  # of the object first if there is an owner
    signature: inspect.Signature

    @property
    def arguments(self):
        """The parameters that a caller gives."""
        parameters = list(self.signature.parameters.values())
        return parameters[1:] if self.owner is not None else parameters


def public_values():
    """Each public name of the package and of its folders, and what it stands for."""
    found = {}
    folders = [one.name for one in pkgutil.iter_modules(hierbandits.__path__) if one.ispkg]
    modules = [hierbandits] + [
        importlib.import_module(f"hierbandits.{name}") for name in folders if name not in NOT_CALLED
    ]
    for module in modules:
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.ismodule(value):
                for inner in getattr(value, "__all__", ()):
                    found[f"{value.__name__}.{inner}"] = getattr(value, inner)
            else:
                found[f"{module.__name__}.{name}"] = value
    return {
        name: value
        for name, value in found.items()
        if _home(name, value, found) == name and not _is_client(value)
    }


def _is_client(value):
    return str(getattr(value, "__module__", "")).startswith("hierbandits.client")


def _home(name, value, found):
    """The first name of a value that has several."""
    return next(other for other, same in found.items() if same is value)


def all_classes():
    """Every class of the package by name, public or not: parameters are of such types."""
    found = {}
    for one in pkgutil.walk_packages(hierbandits.__path__, "hierbandits."):
        if one.name.split(".")[1] not in (*NOT_CALLED, "__main__"):
            module = importlib.import_module(one.name)
            for name, value in vars(module).items():
                if inspect.isclass(value) and value.__module__ == one.name:
                    found[name] = value
    return found


def is_a(kind, wanted):
    """Whether objects of a class are of another, or follow it if it is a protocol."""
    if not getattr(wanted, "_is_protocol", False):
        return wanted in kind.__mro__
    parts = {name for one in wanted.__mro__ if is_ours(one) for name in vars(one)}
    return all(hasattr(kind, name) for name in parts if not name.startswith("_"))


def is_ours(kind):
    """Whether a class is one of the package's."""
    return (getattr(kind, "__module__", None) or "").startswith("hierbandits")


def targets_of(kind):
    """The constructor of a class, and its public methods and properties."""
    if getattr(kind, "_is_protocol", False):
        return  # whatever follows it is met as an object
    if not inspect.isabstract(kind):
        yield _target(kind.__name__, None, kind)
    for name in dir(kind):
        if name.startswith("_") and name not in OPERATORS:
            continue
        plain = inspect.getattr_static(kind, name)
        if isinstance(plain, classmethod | staticmethod):
            if is_ours(plain.__func__):
                yield _target(f"{kind.__name__}.{name}", None, getattr(kind, name))
        elif isinstance(plain, property):
            if is_ours(plain.fget):
                yield _target(f"{kind.__name__}.{name}", kind, plain.fget)
        elif inspect.isfunction(plain) and is_ours(plain):
            yield _target(f"{kind.__name__}.{name}", kind, plain)


def function_target(name, value):
    """A function, or an object that can be called."""
    return _target(name, None, value)


def _target(name, owner, function):
    try:
        signature = inspect.signature(function)
    except ValueError:
        signature = inspect.Signature()
    return Target(name, owner, function, signature)
