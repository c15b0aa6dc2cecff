"""The API as an OpenAPI document, made from the operations and the types of their bodies."""

import ast
import inspect
import re
from collections.abc import Sequence
from http import HTTPStatus
from textwrap import dedent
from typing import Any

import msgspec

from hierbandits import __version__
from hierbandits.service.api_examples import EXAMPLES
from hierbandits.service.dashboard_operations import MARKED
from hierbandits.service.operation import Operation

_PART = re.compile(r"\{(\w+)(?::\w+)?\}")
_WORDS = {
    "policy": "The name of a policy.",
    "id": "The id of a decision, yours or the service's.",
    "arm": "The name of an arm.",
    "evaluation": "The id of an evaluation.",
    "task": "The name of a task; JSON if that is a number or a path of names.",
}
_NAMES = {
    "policy": "shop", "id": "order-17", "arm": "red", "task": "ada", "evaluation": "5f2c0a9b"
}  # fmt: skip
_PROBLEM = {
    "type": "object",
    "title": "Problem",
    "description": "What is wrong (RFC 9457): `code` is for programs, `detail` for people.",
    "required": ["status", "code", "title", "detail"],
    "properties": {
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "title": {"type": "string"},
        "detail": {"type": "string"},
    },
}
_FLAG_FAILURE = {
    "type": "object",
    "title": "FlagFailure",
    "description": "What is wrong, as OFREP says it.",
    "required": ["errorCode", "errorDetails"],
    "properties": {
        "key": {"type": "string"},
        "errorCode": {"type": "string"},
        "errorDetails": {"type": "string"},
    },
}
_ABOUT = """Decides for many similar tasks and learns from their rewards.

What goes wrong is answered with `application/problem+json`. Answers 429 and 503 say in
`Retry-After` when the same request may work. A request may bring an `X-Request-Id`; the answer and
the log have it too."""


def openapi_document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The document of these operations."""
    types = [kind for one in operations for kind in (one.takes, one.gives) if kind is not None]
    found, parts = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(map(str, types), found, strict=True))
    schemas[str(bytes)] = {"type": "string", "format": "binary"}
    for kind in types:
        for struct in _structs(kind):
            _describe(struct, parts[struct.__name__])
    for owner, field, part in (
        ("RoundReply", "decisions", "DecisionReply"),
        ("RewardsReply", "rewards", "RewardReply"),
        ("MeasuresReply", "metrics", "MetricsReply"),
        ("FlagsReply", "flags", "FlagReply"),
    ):
        if owner in parts:
            other = "FlagFailure" if part == "FlagReply" else "Problem"
            either = [_ref("schemas", part), _ref("schemas", other)]
            parts[owner]["properties"][field]["items"] = {"anyOf": either}
    paths: dict[str, Any] = {}
    for one in operations:
        path = _PART.sub(r"{\1}", one.path)
        paths.setdefault(path, {})[one.method.lower()] = _described(one, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "hierbandits", "version": __version__, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(parts.items()))
            | {"Problem": _PROBLEM, "FlagFailure": _FLAG_FAILURE},
            "responses": {"Problem": _problem_response("A problem.")},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`Authorization: Bearer ...` with a token that `hierbandits "
                    "token create` made. A server on a loopback address that has no tokens needs "
                    "none.",
                }
            },
        },
    }


def _described(one: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    """One operation."""
    body, reply = EXAMPLES.get(one.name, (None, None))
    told: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "tags": [_tag(one)],
        "security": [] if one.scope is None else [{"token": []}],
    }
    if one.scope is not None:
        told["description"] = f"For tokens with the scope `{one.scope}`."
        told["x-scope"] = one.scope
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _WORDS[name],
            "schema": {"type": "string", "minLength": 1},
            "example": _NAMES[name],
        }
        for name in _PART.findall(one.path)
    ]
    for name, schema in one.query.items():
        parameters.append({"name": name, "in": "query", "schema": schema})
    if parameters:
        told["parameters"] = parameters
    if one.takes is not None:
        content = {"schema": schemas[str(one.takes)]} | _example(body)
        media = "application/octet-stream" if one.takes is bytes else "application/json"
        told["requestBody"] = {"required": True, "content": {media: content}}
    if one.gives is None:
        responses: dict[str, Any] = {"204": {"description": "Done."}}
    else:
        content = {"schema": schemas[str(one.gives)]} | _example(reply)
        media = one.media.partition(";")[0]
        responses = {str(one.status): {"description": "Done.", "content": {media: content}}}
    for status in _problems(one):
        responses[str(status)] = _refused(one, HTTPStatus(status).phrase)
    if one.name in ("evaluate_flags", *MARKED):
        responses["304"] = {"description": "Nothing has changed since the ETag that you have."}
    return told | {"responses": responses | {"default": _ref("responses", "Problem")}}


def _problems(one: Operation) -> list[int]:
    """How an operation may refuse."""
    statuses = {400}
    if one.scope is not None:
        statuses |= {401, 403}
    if "policies" in one.path or one.refusal is not None:
        statuses |= {404, 409, 503}
    if one.takes is not None:
        statuses |= {408, 413, 429}
    if one.name in ("decide", "decide_round"):
        statuses.add(410)
    return sorted(statuses)


def _tag(one: Operation) -> str:
    if one.path.startswith("/ofrep"):
        return "OFREP"
    words = ("/decisions", "/rounds", "/rewards", "{policy}/metrics")
    if any(word in one.path for word in words):
        return "decisions and rewards"
    if one.path.endswith(("/rollout", "/audit", "/promotion")):
        return "rollouts"
    return "policies" if one.path.startswith("/policies") else "the service"


def _example(value: Any) -> dict[str, Any]:
    return {} if value is None else {"example": value}


def _ref(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _problem_response(words: str) -> dict[str, Any]:
    return {
        "description": words,
        "content": {"application/problem+json": {"schema": _ref("schemas", "Problem")}},
    }


def _refused(one: Operation, words: str) -> dict[str, Any]:
    if one.refusal is None:
        return _problem_response(words)
    content = {"application/json": {"schema": _ref("schemas", "FlagFailure")}}
    return {"description": words, "content": content}


def _structs(kind: Any) -> list[type[msgspec.Struct]]:
    """All structs that a type is made of."""
    if inspect.isclass(kind) and issubclass(kind, msgspec.Struct):
        inner = [one for field in msgspec.structs.fields(kind) for one in _structs(field.type)]
        return [kind, *inner]
    return [one for part in getattr(kind, "__args__", ()) for one in _structs(part)]


def _describe(struct: type[msgspec.Struct], schema: dict[str, Any]) -> None:
    """Add the words that stand below the fields of a struct in its source."""
    body = ast.parse(dedent(inspect.getsource(struct))).body[0]
    assert isinstance(body, ast.ClassDef)
    schema["description"] = inspect.cleandoc(struct.__doc__ or "")
    for field, words in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(words, ast.Expr)
            and isinstance(words.value, ast.Constant)
        ):
            name, text = field.target.id, inspect.cleandoc(str(words.value.value))
            schema["properties"][name]["description"] = text
