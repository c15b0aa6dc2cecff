"""Operations for the page that people look at: what happened to a policy, and why."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.responses import RedirectResponse, Response

from hierbandits.agent.decision import task_name
from hierbandits.dashboard.page_files import PAGE, page_file
from hierbandits.service.api_problem import bad_request, not_found
from hierbandits.service.operation import JSON, Call, Operation
from hierbandits.service.stored_event import as_text
from hierbandits.service.task_beliefs import population
from hierbandits.service.task_index import shown

MOST_RECENT = 200
_SAFETY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
"""The page takes nothing from elsewhere and runs nothing but its own files."""


async def _marked(call: Call, make: Callable[[], Awaitable[Any]]) -> Response:
    """A reply that changes with the policy alone; whoever has it already is told just that."""
    book = call.service.book
    live = book.turns(call.policy).live
    mark = f'"{live.record.id:x}-{live.version}-{live.number}"'
    headers = {"etag": mark, "cache-control": "no-cache"}
    if call.header(b"if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(msgspec.json.encode(await make()), media_type=JSON, headers=headers)


async def _history(call: Call) -> Response:
    live = call.service.book.turns(call.policy).live
    question = {"ask": "history", "policy": live.record.id, "last": live.number}

    async def make() -> Any:
        return await call.service.desk.ask(question)

    return await _marked(call, make)


def recent_limit(call: Call) -> int:
    """How many of the latest decisions are asked for; a Problem if that is no number."""
    text = call.query.get("limit", "50")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise bad_request(f"limit must be a whole number, got {text!r:.80}")
    return min(int(text), MOST_RECENT)


async def _recent(call: Call) -> Response:
    live, limit = call.service.book.turns(call.policy).live, recent_limit(call)
    question = {"ask": "recent", "policy": live.record.id, "last": live.number, "limit": limit}

    async def make() -> Any:
        return await call.service.desk.ask(question)

    return await _marked(call, make)


async def _population(call: Call) -> Response:
    async def make() -> Any:
        return population(call.service.book.turns(call.policy).live.agent)

    return await _marked(call, make)


async def _account(call: Call) -> dict[str, Any]:
    turns, id = call.service.book.turns(call.policy), call.part("id")
    parts: dict[str, Any] | None = await turns.ask("look", lambda: turns.live.view.decision(id))
    if parts is None:
        raise not_found("decision", id)
    live = turns.live
    number, _ = live.view.places([id])[id]
    asked = live.rounds.of(number)
    question = {"ask": "account", "policy": live.record.id, "id": id, "asked": asked}
    told: dict[str, Any] = await call.service.desk.ask(question)
    rest = {"reward": parts["reward"], "provisional": parts["provisional"]}
    task = {"key": as_text(parts["task"]), "label": shown(task_name(parts["task"]))}
    return told | task | {"decision": told.get("decision", parts) | rest}


async def _front(call: Call) -> Response:
    return RedirectResponse("dashboard", 307)


async def _page(call: Call) -> Response:
    return _file(PAGE)


async def _part(call: Call) -> Response:
    return _file(call.part("file"))


def _file(name: str) -> Response:
    found = page_file(name)
    if found is None:
        raise not_found("file", name)
    content, media = found
    return Response(content, media_type=media, headers=_SAFETY)


MARKED = ("history", "recent_decisions", "population")
"""Operations whose replies have a mark, so that they are sent once."""

OPERATIONS = [
    Operation(
        "history", "GET", "/policies/{policy}/history", "read", _history,
        "Rewards, arms, predictions and delays over time.", None, dict[str, Any],
    ),
    Operation(
        "recent_decisions", "GET", "/policies/{policy}/recent", "read", _recent,
        "The latest decisions with their propensities and rewards.", None, dict[str, Any],
        query={"limit": {"type": "integer", "minimum": 0, "maximum": 10**9 - 1, "default": 50}},
    ),
    Operation(
        "population", "GET", "/policies/{policy}/population", "read", _population,
        "What is known of tasks in general.", None, dict[str, Any],
    ),
    Operation(
        "account", "GET", "/policies/{policy}/decisions/{id:path}/account", "read", _account,
        "A decision made once more: the draws, the scores and why this arm.",
        None, dict[str, Any],
    ),
]  # fmt: skip
PAGES = [
    Operation(
        "front", "GET", "/", None, _front, "To the page.", None, None, status=307,
    ),
    Operation(
        "dashboard", "GET", "/dashboard", None, _page,
        "The page that shows what policies do.", None, str, media="text/html; charset=utf-8",
    ),
    Operation(
        "dashboard_file", "GET", "/dashboard/{file}", None, _part,
        "A part of the page.", None, str, media="text/plain; charset=utf-8",
    ),
]  # fmt: skip
"""What a browser fetches; no part of the API."""
