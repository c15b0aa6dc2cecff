"""Signatures and fields as their authors wrote them: `Vector`, not what that stands for."""

import ast
import dataclasses
import inspect
import io
import textwrap
import tokenize
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """A field of a class that is a plain record."""

    name: str
    kind: str  # its type, as it was written
    default: str  # "" if there is none
    note: str  # the comment at its line


def written_signature(value: Any) -> tuple[str, str] | None:
    """The arguments and the result of a function or a class; None if no source has them."""
    if inspect.isclass(value):
        if (fields := record_fields(value)) is not None:
            return _of_fields(value, fields), ""
        own = inspect.getattr_static(value, "__init__", None)
        if not inspect.isfunction(own):
            return None
        found = written_signature(own)
        return None if found is None else (found[0], "")
    function = inspect.unwrap(getattr(value, "__func__", value))
    if not inspect.isfunction(function):
        return None
    node = _parsed(function)
    if not isinstance(node, ast.FunctionDef):
        return None
    arguments = node.args
    for some in (arguments.posonlyargs, arguments.args):
        if some and some[0].arg in ("self", "cls"):
            del some[0]
            break
    result = "" if node.returns is None else _kind(node.returns)
    return f"({_arguments(arguments)})", result


def record_fields(value: type) -> list[Field] | None:
    """The fields of a dataclass or a named tuple, those of its bases first.

    None if it is another class, or one with a constructor of its own.
    """
    found: dict[str, Field] = {}
    own = vars(value).get("__init__")
    is_record = dataclasses.is_dataclass(value) or issubclass(value, tuple)
    if not is_record or (own is not None and own.__code__.co_filename.endswith(".py")):
        return None
    for base in reversed(value.__mro__):
        if not base.__module__.startswith("hierbandits"):
            continue
        if not (dataclasses.is_dataclass(base) or issubclass(base, tuple)):
            continue
        node, notes = _parsed(base), _notes(base)
        for line in getattr(node, "body", ()):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                name = line.target.id
                if not name.startswith("_") and not _is_inner(line):
                    default = "" if line.value is None else ast.unparse(line.value)
                    note = notes.get(line.end_lineno or 0, "")
                    found[name] = Field(name, _kind(line.annotation), default, note)
    return list(found.values())


def _is_inner(line: ast.AnnAssign) -> bool:
    """Whether a field is set by the class itself, or belongs to it."""
    return "init=False" in ast.unparse(line) or _kind(line.annotation).startswith("ClassVar")


def _of_fields(value: type, fields: list[Field]) -> str:
    by_name = {field.name: field.kw_only for field in _known_fields(value)}
    words: list[str] = []
    for field in fields:
        default = f" = {_default(field.default)}" if field.default else ""
        if by_name.get(field.name) and "*" not in words:
            words.append("*")
        words.append(f"{field.name}: {field.kind}{default}")
    return f"({', '.join(words)})"


def _known_fields(value: type) -> tuple[Any, ...]:
    return dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()


def _default(text: str) -> str:
    """What stands for a default: that of `field(default=...)` is inside."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "field":
        inside = {word.arg: word.value for word in node.keywords}
        if "default" in inside:
            return ast.unparse(inside["default"])
        return "..."
    return text


def _kind(node: ast.AST) -> str:
    """A type, without the quotes of one that is not there yet."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _arguments(arguments: ast.arguments) -> str:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for each in (*every, arguments.vararg, arguments.kwarg):
        if each is not None and each.annotation is not None:
            each.annotation = ast.parse(_kind(each.annotation), mode="eval").body
    return ast.unparse(arguments)


def _parsed(value: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _notes(value: type) -> dict[int, str]:
    """The comments of a class by their lines."""
    source = io.StringIO(textwrap.dedent(inspect.getsource(value)))
    return {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(source.readline)
        if token.type == tokenize.COMMENT and not token.line.strip().startswith("#")
    }
