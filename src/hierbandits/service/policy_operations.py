"""Operations on policies, their arms and their tasks."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from hierbandits.service.api_problem import bad_request, not_found
from hierbandits.service.operation import Call, Operation
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.policy_turns import PolicyTurns
from hierbandits.service.task_beliefs import task_belief, task_rows
from hierbandits.service.task_index import SORTS
from hierbandits.service.wire import ArmRequest, PolicyReply, VersionReply
from hierbandits.types import TaskName

MOST_TASKS, MOST_DETAILED = 1000, 100


def _shown(call: Call, name: str) -> PolicyReply:
    record, live = call.service.book.record(name), call.service.book.turns(name).live
    agent = live.agent
    offers = agent.offers  # a retired arm is not among them, and has its past in the log
    return PolicyReply(
        name,
        live.version,
        msgspec.to_builtins(live.settings),
        record.created,
        agent.num_tasks,
        live.number,
        int(agent.belief.num_rewards.sum()),
        live.pending,
        None if offers is None else list(offers),
    )


async def _list(call: Call) -> list[PolicyReply]:
    names = call.service.book.names
    seen = [name for name in names if call.token is None or call.token.sees(name)]
    return [_shown(call, name) for name in seen]


async def _show(call: Call) -> PolicyReply:
    return _shown(call, call.policy)


async def _put_policy(call: Call) -> VersionReply:
    version, created = await call.service.book.put(call.policy, call.body, call.who)
    return VersionReply(call.policy, version, created)


async def _delete(call: Call) -> None:
    record = call.service.book.record(call.policy)
    await call.service.book.delete(call.policy)
    await call.service.evaluations.forget(record.id)


async def _versions(call: Call) -> list[dict[str, Any]]:
    return [
        {
            "version": one.number,
            "after_event": one.after,
            "created": one.created,
            "settings": json.loads(one.settings),
        }
        for one in call.service.book.versions(call.policy)
    ]


async def _add_arm(call: Call) -> PolicyReply:
    turns, arm = call.service.book.turns(call.policy), call.body
    widths = {"hyper_mean": arm.hyper_mean, "hyper_std": arm.hyper_std, "task_std": arm.task_std}
    await _changed(turns, lambda: turns.live.add_arm(arm.name, call.who, **widths))
    return _shown(call, call.policy)


async def _retire_arm(call: Call) -> PolicyReply:
    turns = call.service.book.turns(call.policy)
    arm: Any = named(call.part("arm"), (turns.live.agent.arms or ()).__contains__)
    await _changed(turns, lambda: turns.live.retire_arm(arm, call.who))
    return _shown(call, call.policy)


async def _changed(turns: PolicyTurns, change: Any) -> None:
    try:
        await turns.ask("call", change)
    except ValueError as error:
        raise bad_request(str(error)) from error


class TaskPage(NamedTuple):
    """Which tasks are asked for."""

    search: str
    sort: str
    limit: int
    offset: int
    has_details: bool


def task_page(query: Mapping[str, str]) -> TaskPage:
    """The page of tasks that a query asks for; a Problem if there is none such."""
    limit, offset = (whole(query.get(name, usual), name) for name, usual in _PAGE)
    sort = query.get("sort", SORTS[0])
    if sort not in SORTS:
        raise bad_request(f"sort must be one of {', '.join(SORTS)}, got {sort!r:.80}")
    has_details = query.get("detail", "false") == "true"
    most = MOST_DETAILED if has_details else MOST_TASKS
    return TaskPage(query.get("search", ""), sort, min(limit, most), offset, has_details)


async def _tasks(call: Call) -> dict[str, Any]:
    page, live = task_page(call.query), call.service.book.turns(call.policy).live
    total, tasks = await live.task_index.page(page.search, page.sort, page.limit, page.offset)
    reply: dict[str, Any] = {"total": total, "tasks": tasks}
    if page.has_details:
        met = [task for task in tasks if live.agent.has_met(task)]  # none is deleted meanwhile
        reply["rows"] = task_rows(live.agent, met)
    return reply


_PAGE = (("limit", "100"), ("offset", "0"))  # and what each is unless given
_QUERY: dict[str, dict[str, Any]] = {
    "search": {"type": "string", "description": "A text that the names contain, in any case."},
    "sort": {"type": "string", "enum": list(SORTS), "default": SORTS[0]},
    "detail": {
        "type": "string",
        "enum": ["true", "false"],
        "default": "false",
        "description": f"Whether each task has a row; then there are at most {MOST_DETAILED}.",
    },
    "limit": {"type": "integer", "minimum": 0, "maximum": 10**12 - 1, "default": 100},
    "offset": {"type": "integer", "minimum": 0, "maximum": 10**12 - 1, "default": 0},
}
_WHOLE = re.compile(r"[0-9]{1,12}")
_INTEGER = re.compile(r"-?[0-9]{1,100}")


def whole(text: str, name: str) -> int:
    """The whole number that a text is; a Problem if it is none."""
    if not _WHOLE.fullmatch(text):
        raise bad_request(f"{name} must be a whole number, got {text!r:.80}")
    return int(text)


async def _task(call: Call) -> dict[str, Any]:
    agent = call.service.book.turns(call.policy).live.agent
    task = _task_of(call)
    if not agent.has_met(task):
        raise not_found("task", call.part("task"))
    return task_belief(agent, task)


async def _forget(call: Call) -> dict[str, Any]:
    record = call.service.book.record(call.policy)
    changed = await call.service.deletions.forget(call.policy, _task_of(call), call.who)
    await call.service.evaluations.stop(record.id)  # they may have read the task
    return {"events_changed": changed}


def _task_of(call: Call) -> TaskName:
    """The task that a path names."""
    agent = call.service.book.turns(call.policy).live.agent
    return named(call.part("task"), agent.has_met)


def named(text: str, is_known: Callable[[TaskName], bool]) -> TaskName:
    """What a part of a path names.

    A text in quotes is read as JSON, so that every name can be written without doubt.  So are
    lists, and numbers that are known.  Anything else is the name itself.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, str):
        return value
    names = value if isinstance(value, list) else [value]
    if not all(type(one) in (str, int) for one in names):
        return text
    if isinstance(value, list):  # a path of names, though it may be deleted half by now
        return text if is_known(text) else tuple(value)
    return value if is_known(value) else text


OPERATIONS = [
    Operation(
        "list_policies", "GET", "/policies", "read", _list,
        "All policies that you may see.", None, list[PolicyReply],
    ),
    Operation(
        "show_policy", "GET", "/policies/{policy}", "read", _show,
        "A policy and its counts.", None, PolicyReply,
    ),
    Operation(
        "put_policy", "PUT", "/policies/{policy}", "admin", _put_policy,
        "Create a policy, or make a new version of it; its log stays.",
        PolicySettings, VersionReply, most_bytes=16 << 20,
    ),
    Operation(
        "delete_policy", "DELETE", "/policies/{policy}", "admin", _delete,
        "Delete a policy and its log.",
    ),
    Operation(
        "list_versions", "GET", "/policies/{policy}/versions", "read", _versions,
        "All versions of a policy.", None, list[dict[str, Any]],
    ),
    Operation(
        "add_arm", "POST", "/policies/{policy}/arms", "admin", _add_arm,
        "Offer one more arm.", ArmRequest, PolicyReply,
    ),
    Operation(
        "retire_arm", "DELETE", "/policies/{policy}/arms/{arm:path}", "admin", _retire_arm,
        "Offer an arm no more; late rewards of it are still learned.", None, PolicyReply,
    ),
    Operation(
        "list_tasks", "GET", "/policies/{policy}/tasks", "read", _tasks,
        "Tasks by name, page by page.", None, dict[str, Any], query=_QUERY,
    ),
    Operation(
        "show_task", "GET", "/policies/{policy}/tasks/{task:path}", "read", _task,
        "What is known of a task, and from where.", None, dict[str, Any],
    ),
    Operation(
        "delete_task", "DELETE", "/policies/{policy}/tasks/{task:path}", "admin", _forget,
        "Delete a task from the policy and its log.", None, dict[str, Any],
    ),
]  # fmt: skip
