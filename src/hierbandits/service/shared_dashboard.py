"""What people look at of policies that workers share: history, decisions, population, tasks."""

import asyncio
import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from hierbandits.agent.decision import task_name
from hierbandits.service.api_problem import not_found
from hierbandits.service.choice_words import why_by_row
from hierbandits.service.dashboard_operations import recent_limit
from hierbandits.service.decision_row import decision_row
from hierbandits.service.kept_answers import KeptAnswers
from hierbandits.service.ledger_desk import LedgerDesk
from hierbandits.service.operation import JSON, Call, Handler
from hierbandits.service.policy_operations import TaskPage, named, task_page
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.stored_event import as_text
from hierbandits.service.task_beliefs import LOOKED_AT, population, task_belief, task_rows
from hierbandits.service.task_index import shown
from hierbandits.types import TaskName

if TYPE_CHECKING:
    from hierbandits.service.shared_policy import SharedPolicy

_RECENT = (
    "SELECT data, value, provisional FROM (SELECT id, data, at FROM shared_decisions "
    "WHERE policy = %s ORDER BY at DESC, id DESC LIMIT %s) AS made "
    "LEFT JOIN shared_rewards AS given ON given.policy = %s AND given.id = made.id "
    "ORDER BY made.at DESC, made.id DESC"
)
_FIRST = "SELECT task FROM shared_tasks WHERE policy = %s ORDER BY created, task_key LIMIT %s"
_NAME = (  # in JSON, without its quotes
    "convert_from(CASE get_byte(task, 0) WHEN 34 THEN substr(task, 2, length(task) - 2) "
    "ELSE task END, 'UTF8')"
)
_CONTAINS = (
    f" AND (position(%(lower)s in lower({_NAME})) > 0 OR position(%(search)s in {_NAME}) > 0)"
)
_TOTAL = "SELECT count(*) FROM shared_tasks WHERE policy = %(policy)s"
_TASKS = "SELECT task FROM shared_tasks {} WHERE policy = %(policy)s{} ORDER BY {} {}"
_PAGE = "LIMIT %(limit)s OFFSET %(offset)s"
_NUMBERS = (
    "LEFT JOIN (SELECT task_key AS key, count(*) AS number FROM shared_decisions "
    "WHERE policy = %(policy)s GROUP BY task_key) AS made ON made.key = task_key"
)
_ORDERS = {
    "oldest": "created, task_key",
    "newest": "created DESC, task_key DESC",
    "decisions": "coalesce(number, 0) DESC, created, task_key",
}
_DECISIONS = (
    "SELECT task_key, count(*) FROM shared_decisions "
    "WHERE policy = %s AND task_key = ANY(%b::bytea[]) GROUP BY task_key"
)


class SharedDashboard:
    """Handlers of one worker; what costs the store much is kept for a while."""

    def __init__(self, links: SharedLinks, desk: LedgerDesk, kept: KeptAnswers) -> None:
        self._links, self._desk, self._kept = links, desk, kept

    @property
    def handlers(self) -> Sequence[Handler]:
        """All of them, each with the name of its operation."""
        return (
            self.history, self.recent_decisions, self.population, self.account, self.list_tasks,
            self.show_task,
        )  # fmt: skip

    async def history(self, call: Call) -> Response:
        """Rewards, arms, predictions and delays over time."""
        live = (await call.turns()).live
        return _marked(call, await self._desk.ask({"policy": live.record.id}))

    async def recent_decisions(self, call: Call) -> Response:
        """The latest decisions with their propensities and rewards."""
        policy, limit = (await call.turns()).live.record.id, recent_limit(call)
        rows = await asyncio.to_thread(self._links.read, _RECENT, (policy, limit, policy))
        decisions = []
        for data, value, provisional in rows:
            parts = msgspec.json.decode(data)
            row = decision_row(parts, parts["policy_version"])
            decisions.append(row | {"reward": value, "provisional": bool(provisional)})
        return _marked(call, {"decisions": decisions})

    async def population(self, call: Call) -> Response:
        """What is known of tasks in general."""
        turns = await call.turns()
        live: Any = turns.live

        def look() -> dict[str, Any]:
            first = self._links.read(_FIRST, (live.record.id, LOOKED_AT))
            agent, _ = live.agent_with([json.loads(task) for (task,) in first])
            return population(agent)

        return _marked(call, await turns.ask("call", look))

    async def account(self, call: Call) -> dict[str, Any]:
        """What is stored of a decision: it cannot be made once more."""
        turns, id = await call.turns(), call.part("id")
        live: Any = turns.live
        parts: dict[str, Any] | None = await turns.ask("look", lambda: live.view.decision(id))
        if parts is None:
            raise not_found("decision", id)
        sql = "SELECT settings FROM shared_versions WHERE policy = %s AND number = %s"
        values = live.record.id, parts["policy_version"]
        ((settings,),) = await asyncio.to_thread(self._links.read, sql, values)
        shown_parts = {"best": False} | parts
        return {
            "decision": shown_parts,
            "why": why_by_row(shown_parts, SharedVersion.from_json(settings).settings),
            "arms": [],
            "problem": None,
            "key": as_text(parts["task"]),
            "label": shown(task_name(parts["task"])),
        }

    async def list_tasks(self, call: Call) -> dict[str, Any]:
        """Tasks by name, page by page."""
        page, turns = task_page(call.query), await call.turns()
        live: Any = turns.live
        policy = live.record.id

        async def look() -> Any:
            return await asyncio.to_thread(self._found, policy, page)

        total, tasks = await self._kept.of(("tasks", policy, page), look)
        reply: dict[str, Any] = {"total": total, "tasks": tasks}
        if page.has_details:
            rows = await turns.ask("call", lambda: task_rows(*live.agent_with(tasks)))
            numbers = await self._numbers(policy, [row["key"] for row in rows])
            reply["rows"] = [row | {"decisions": numbers[row["key"]]} for row in rows]
        return reply

    def _found(self, policy: int, page: TaskPage) -> tuple[int, list[TaskName]]:
        """How many tasks have names that contain a text, and some of them."""
        text = as_text(page.search)[1:-1]  # as it is part of a name in JSON
        values: dict[str, Any] = page._asdict() | {"policy": policy, "search": text}
        values["lower"] = text.lower()
        contains = _CONTAINS if page.search else ""
        ((total,),) = self._links.read(_TOTAL + contains, values)
        numbers = _NUMBERS if page.sort == "decisions" else ""
        sql = _TASKS.format(numbers, contains, _ORDERS[page.sort], _PAGE)
        return total, [json.loads(task) for (task,) in self._links.read(sql, values)]

    async def show_task(self, call: Call) -> dict[str, Any]:
        """What is known of a task, and from where."""
        turns = await call.turns()
        live: Any = turns.live
        belief: dict[str, Any] = await turns.ask("call", lambda: _belief(live, call.part("task")))
        key = as_text(belief["task"])
        numbers = await self._numbers(live.record.id, [key])
        return belief | {"decisions": numbers[key]}

    async def _numbers(self, policy: int, tasks: list[str]) -> dict[str, int]:
        """How many decisions were made for tasks, which are given as JSON."""
        keys = [task_key(task) for task in tasks]

        async def count() -> Any:
            return await asyncio.to_thread(self._links.read, _DECISIONS, (policy, keys))

        found = dict(await self._kept.of(("decisions", policy, *keys), count))
        return {task: found.get(key, 0) for task, key in zip(tasks, keys, strict=True)}


def _belief(live: "SharedPolicy", text: str) -> dict[str, Any]:
    """What a policy knows of the task that a part of a path names."""
    task = named(text, lambda task: bool(live.agent_with([task])[1]))
    agent, met = live.agent_with([task])
    if not met:
        raise not_found("task", str(task))
    return task_belief(agent, task)


def _marked(call: Call, answer: Any) -> Response:
    """A reply with a mark of what it says; whoever has it already is told just that."""
    content = msgspec.json.encode(answer)
    mark = f'"{blake2b(content, digest_size=16).hexdigest()}"'
    headers = {"etag": mark, "cache-control": "no-cache"}
    if call.header(b"if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=JSON, headers=headers)
