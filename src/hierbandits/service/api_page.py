"""The OpenAPI document as a page to read; it needs no script and fetches nothing."""

import json
from html import escape
from typing import Any

from hierbandits.reporting.html_page import HtmlPage, shown_text


def api_page(document: dict[str, Any]) -> str:
    """The whole page."""
    page = HtmlPage("hierbandits: the API")
    page.answer("Decide for a task, then give the reward of that decision.", "")
    page.insert('<p>The same for programs: <a href="openapi.json">openapi.json</a></p>')
    page.insert("<style>.api :is(th, td) { text-align: left; }</style>")
    about = document["info"]["description"].replace("`", "").split("\n\n")[1:]
    page.text(*(words.replace("\n", " ") for words in about))
    page.text(document["components"]["securitySchemes"]["token"]["description"].replace("`", ""))
    tag = None
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if one["tags"][0] != tag:
                tag = one["tags"][0]
                page.heading(tag[0].upper() + tag[1:])
            page.insert(_operation(document, method, path, one))
    return page.html()


def _operation(document: dict[str, Any], method: str, path: str, one: dict[str, Any]) -> str:
    """One operation, folded up but for its name."""
    inner = HtmlPage("", heading="h3")
    inner.text(one.get("description", "For everybody.").replace("`", ""))
    rows = [
        [part["name"], part["in"], part.get("description", part["schema"].get("description", ""))]
        for part in one.get("parameters", [])
    ]
    if rows:
        inner.table("", ["Parameter", "Where", "What"], rows)
    if "requestBody" in one:
        _body(document, inner, "Body", one["requestBody"])
    for status, reply in one["responses"].items():
        if status.startswith("2") and "content" in reply:
            _body(document, inner, f"Reply {status}", reply)
    refusals = [status for status in one["responses"] if status.startswith(("4", "5"))]
    inner.text(f"May be refused with {', '.join(refusals)}.")
    head = f"<b>{escape(method.upper())} {escape(path)}</b> {shown_text(one['summary'])}"
    name = escape(one["operationId"])
    return f'<details class="api" id="{name}"><summary>{head}</summary>{inner.body()}</details>'


def _body(document: dict[str, Any], page: HtmlPage, heading: str, body: dict[str, Any]) -> None:
    ((media, content),) = body["content"].items()
    page.heading(f"{heading} ({media})")
    rows = fields(document, content["schema"])
    if rows:
        page.table("", ["Field", "Type", "What"], rows)
    if "example" in content:
        page.insert(f"<pre>{escape(json.dumps(content['example'], indent=2))}</pre>")


def fields(document: dict[str, Any], schema: dict[str, Any]) -> list[list[str]]:
    """The fields of a body: name, type, words."""
    schema = _found(document, schema)
    if schema.get("type") == "array":
        schema = _found(document, schema.get("items", {}))
    needed = schema.get("required", [])
    return [
        [
            name,
            type_words(part) + ("" if name in needed else ", may be left out"),
            part.get("description", "").replace("\n", " "),
        ]
        for name, part in schema.get("properties", {}).items()
    ]


def _found(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference refers to."""
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


def type_words(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(type_words(one) for one in schema["anyOf"] if one != {"type": "null"})
    if "enum" in schema:
        return " or ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_words(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        inner = type_words(schema["additionalProperties"])
        return "object" if inner == "anything" else f"object of {inner}"
    return str(kind)
