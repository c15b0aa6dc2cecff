"""A digest of all that a computation depends on, to know whether its result still holds."""

import dis
import sys
from collections.abc import Iterator
from copyreg import dispatch_table
from functools import cached_property, lru_cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import (
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

_HEAP_TYPE = 1 << 9  # the flag of a class that a class statement made
_PACKAGE = __name__.partition(".")[0]
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented))


def fingerprint(thing: Any) -> str:
    """A digest of `described(thing)`, of this package's version and of its source."""
    from hierbandits import __version__

    whole = (__version__, _package_source(), described(thing))
    return sha256(repr(whole).encode()).hexdigest()


def described(thing: Any) -> Any:
    """Plain data that stand for all that `thing` computes from, the same in every process.

    An object is described by its class and its state.  A function is described by its compiled
    code, its defaults, its closure and the globals that it reads.  A class is described by its
    bases, methods and attributes.  A module of the user's own is described by its source.
    Whatever an installed package defines is described by its name and the package's version.

    Not covered are files, environment variables, and attributes that are looked up by name at run
    time.  A ValueError is raised for what has no such description, such as a lock.
    """
    return _Describer().of(thing)


class _Describer:
    """Descends into an object and all its parts.

    Every class and function is described once and has a number, which describes it from then on.
    Any other object has a number while its parts are described, so that a cycle ends.
    """

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, Any]] = {}  # the thing too, to keep its id in use
        self._numbers = count()

    def of(self, thing: Any) -> Any:
        if type(thing) in _PLAIN:
            return thing
        if id(thing) in self._met:
            return "met", self._met[id(thing)][0]
        self._met[id(thing)] = next(self._numbers), thing
        description = self._described(thing)
        if not isinstance(thing, type | FunctionType):  # equal values are equal, shared or not
            del self._met[id(thing)]
        return description

    def _described(self, thing: Any) -> Any:
        if type(thing) is np.ndarray and not thing.dtype.hasobject:
            return repr(thing.dtype), thing.shape, sha256(thing.tobytes()).hexdigest()
        if type(thing) in (tuple, list):
            return type(thing).__name__, [self.of(part) for part in thing]
        if type(thing) in (dict, MappingProxyType):
            return "dict", [(self.of(key), self.of(value)) for key, value in thing.items()]
        if type(thing) in (set, frozenset):
            return "set", sorted(repr(self.of(part)) for part in thing)
        if isinstance(thing, CodeType):
            return self._code(thing)
        if isinstance(thing, FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, ModuleType):
            return "module", _origin(thing.__name__) or _source(thing)
        if isinstance(thing, property):
            return "property", self.of(thing.fget), self.of(thing.fset)
        if isinstance(thing, cached_property):
            return "property", self.of(thing.func)
        if isinstance(thing, MethodType | staticmethod | classmethod):
            owner = getattr(thing, "__self__", None)
            return type(thing).__name__, self.of(thing.__func__), self.of(owner)
        if type(thing).__module__.startswith("numba.") and hasattr(thing, "py_func"):
            return "compiled", self.of(thing.py_func)
        return self._object(thing)

    def _code(self, code: CodeType) -> Any:
        shape = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
        constants = [self.of(part) for part in code.co_consts]
        return "code", shape, names, code.co_code, code.co_exceptiontable, constants

    def _function(self, function: FunctionType) -> Any:
        filled = [cell for cell in function.__closure__ or () if _is_filled(cell)]
        cells = [self.of(cell.cell_contents) for cell in filled]
        name = f"{function.__module__}.{function.__qualname__}"
        if origin := _origin(function.__module__):
            return "function", name, origin, cells
        known = function.__globals__
        read = {key: known[key] for key in sorted(_globals(function.__code__)) if key in known}
        parts = function.__code__, function.__defaults__, function.__kwdefaults__, read
        return "function", name, cells, [self.of(part) for part in parts]

    def _class(self, kind: type) -> Any:
        name = f"{kind.__module__}.{kind.__qualname__}"
        by_exec = bool(kind.__flags__ & _HEAP_TYPE) and kind.__module__ == "builtins"
        if (origin := _origin(kind.__module__)) and not by_exec:
            return "class", name, origin
        own = {
            key: value
            for key, value in vars(kind).items()
            if not isinstance(value, MemberDescriptorType | GetSetDescriptorType)
            and not key.startswith("_abc_")
            and (not key.startswith("__") or isinstance(value, FunctionType))
        }
        return "class", name, [self.of(base) for base in kind.__bases__], self.of(own)

    def _object(self, thing: Any) -> Any:
        """The parts from which `copy` would rebuild the object; they need not be picklable."""
        try:
            registered = dispatch_table.get(type(thing))
            parts = registered(thing) if registered else thing.__reduce_ex__(4)
        except Exception as error:  # its own methods may raise anything
            raise ValueError(
                "checkpoint must be None unless all that a study computes from has a fingerprint, "
                f"got {thing!r:.80}: {error}"
            ) from None
        if isinstance(parts, str):  # the object is known by its name in its module
            module = str(getattr(thing, "__module__", ""))
            wrapped = getattr(thing, "__wrapped__", None)  # the function inside lru_cache, say
            return "name", module, parts, _origin(module), self.of(wrapped)
        return "object", [
            self.of(list(part) if isinstance(part, Iterator) else part) for part in parts
        ]


def _globals(code: CodeType) -> set[str]:
    """The names of the globals that code reads, and those that functions inside it read."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    names = {step.argval for step in dis.get_instructions(code) if step.opname in loads}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            names |= _globals(part)
    return names


def _is_filled(cell: Any) -> bool:
    """Whether a variable of a closure has a value yet."""
    try:
        return cell.cell_contents is not cell
    except ValueError:  # not assigned yet
        return False


def _origin(module: str | None) -> str:
    """The installed package that a module belongs to and its version; "" for the user's own."""
    top = (module or "__main__").partition(".")[0]
    if top in sys.stdlib_module_names or top == _PACKAGE:
        return top
    if top == "__main__":
        return ""
    package = sys.modules.get(top)
    file = getattr(package, "__file__", None) or ""
    if {"site-packages", "dist-packages"} & set(Path(file).parts):
        return f"{top} {getattr(package, '__version__', '')}"
    return ""


def _source(module: ModuleType) -> tuple[str, str]:
    """A module's name and a digest of its file."""
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file else b""
    return module.__name__, sha256(content).hexdigest()


@lru_cache
def _package_source() -> str:
    """A digest of every file of this package, with its place, read once per process."""
    folder = Path(sys.modules[_PACKAGE].__path__[0])
    digest = sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:  # which holds what is compiled
            content = sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()
