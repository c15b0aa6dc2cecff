"""Write docs/api.md from the OpenAPI document of the service: `python docs/api.py`."""

import json
from pathlib import Path

from hierbandits.service.api_page import fields
from hierbandits.service.service_app import api_document

PAGE = Path(__file__).with_name("api.md")
HEAD = """# The API of the service

`python docs/api.py` writes this page from the OpenAPI document, which a running service gives at
`/openapi.json`, and as a page of its own at `/docs`.

"""


def api_text(document):
    """The page as Markdown."""
    lines = [document["info"]["description"], ""]
    lines += [document["components"]["securitySchemes"]["token"]["description"], ""]
    tag = None
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if one["tags"][0] != tag:
                tag = one["tags"][0]
                lines += [f"## {tag[0].upper()}{tag[1:]}", ""]
            lines += [f"### {one['summary'].removesuffix('.')}", ""]
            lines += [
                f"`{method.upper()} {path}`",
                "",
                one.get("description", "For everybody."),
                "",
            ]
            lines += _parts(document, one)
    return HEAD + "\n".join(lines).rstrip() + "\n"


def _parts(document, one):
    rows = [
        [part["name"], part["in"], part.get("description", part["schema"].get("description", ""))]
        for part in one.get("parameters", [])
    ]
    yield from _table(["parameter", "where", "what"], rows)
    if "requestBody" in one:
        yield from _body(document, "Body", one["requestBody"])
    for status, reply in one["responses"].items():
        if status.startswith("2"):
            yield from _body(document, f"Reply {status}", reply)
    refusals = [status for status in one["responses"] if status.startswith(("4", "5"))]
    yield from [f"Refused with {', '.join(refusals)}.", ""]


def _body(document, name, body):
    if "content" not in body:
        yield from [f"{name}: nothing.", ""]
        return
    ((media, content),) = body["content"].items()
    yield from [f"{name}, `{media}`:", ""]
    yield from _table(["field", "type", "what"], fields(document, content["schema"]))
    if "example" in content:
        yield from ["```json", json.dumps(content["example"], indent=2), "```", ""]


def _table(columns, rows):
    if rows:
        yield "| " + " | ".join(columns) + " |"
        yield "|" + "---|" * len(columns)
        for row in rows:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(api_text(api_document()))
