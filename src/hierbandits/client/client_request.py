"""A request to the service as plain data: what is sent, and how the reply is read."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Generic, TypeVar, get_args
from urllib.parse import quote

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ClientRequest(Generic[T]):
    """What is sent, and what makes a record of the reply.

    One that is not `repeatable` would be refused if it came twice: it is sent again only if the
    service surely has not done it.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    body: bytes | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    reads_bytes: bool = False  # whether the reply is a file, and not JSON


def path_part(name: str, value: object) -> str:
    """A name as one part of a path, whatever characters it has."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise ValueError(f"{name} must be a name, got {value!r:.80}")
    return quote(value, safe="")


def policy_path(policy: str) -> str:
    """The path of a policy."""
    return f"/policies/{path_part('policy', policy)}"


def decision_path(policy: str, id: str) -> str:
    """The path of a decision."""
    return f"{policy_path(policy)}/decisions/{path_part('id', id)}"


def json_part(name: str, value: object) -> str:
    """A name, or a path of names, as JSON in one part of a path: 5 and "5" are told apart."""
    return quote(json_body(name, value).decode(), safe="")


def json_body(name: str, value: object) -> bytes:
    """A value as JSON; arrays of numpy are lists."""
    try:
        text = json.dumps(value, allow_nan=False, default=_plain, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} must be plain data with finite numbers: {error}") from error


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"got {value!r:.80}")


def as_method(method: Callable[..., Any], call: Callable[..., Any]) -> None:
    """Let a method show the arguments of the call that it sends, and its own."""
    shown = signature(call)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    reply = get_args(shown.return_annotation)
    method.__signature__ = shown.replace(  # type: ignore[attr-defined]
        parameters=[own, *shown.parameters.values()],
        return_annotation=reply[0] if reply else shown.return_annotation,
    )
