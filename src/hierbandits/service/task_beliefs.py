"""What a policy knows of its tasks, as replies."""

from typing import Any

from hierbandits.agent import Agent
from hierbandits.types import TaskName

CONFIDENCE = 0.95


def task_list(agent: Agent, search: str, limit: int, offset: int) -> dict[str, Any]:
    """The names of tasks that contain a text, a page of them."""
    found = [task for task in agent.tasks if search in str(task)]
    return {"total": len(found), "tasks": found[offset : offset + limit]}


def task_belief(agent: Agent, task: TaskName) -> dict[str, Any]:
    """The posterior of a task: for each arm or feature its mean, an interval and its variances.

    `within_var` is what only the task's own rewards can remove, `shared_var` what those of other
    tasks can remove too.
    """
    table = agent.task_table(task, CONFIDENCE)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return {
        "task": task,
        "confidence": CONFIDENCE,
        "decisions": rows[0]["decisions"] if rows else 0,
        "rows": [{k: v for k, v in row.items() if k not in ("task", "decisions")} for row in rows],
    }
