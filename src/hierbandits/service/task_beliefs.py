"""What a policy knows of its tasks, as replies."""

from collections.abc import Sequence
from typing import Any

from hierbandits.agent import Agent
from hierbandits.service.stored_event import as_text
from hierbandits.service.task_index import shown
from hierbandits.types import TaskName

CONFIDENCE = 0.95
_GROUPS = 10
LOOKED_AT = 50
"""Tasks whose uncertainty is averaged."""


def task_belief(agent: Agent, task: TaskName) -> dict[str, Any]:
    """The posterior of a task: for each arm or feature its mean, an interval and its variances.

    `within_var` is what only the task's own rewards can remove, `shared_var` what those of other
    tasks can remove too.  `own_mean` is what the task's rewards say alone, `population_mean` what
    is known of tasks in general: the posterior lies between the two.
    """
    table = agent.task_table(task, CONFIDENCE)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    population, own = agent.population_table(CONFIDENCE), agent.own_means(task)
    for place, row in enumerate(rows):
        row["own_mean"] = own[place]
        row |= {f"population_{name}": population[name][place] for name in ("mean", "low", "high")}
    return {
        "task": task,
        "label": shown(task),
        "confidence": CONFIDENCE,
        "decisions": rows[0]["decisions"] if rows else 0,
        "rows": [{k: v for k, v in row.items() if k not in ("task", "decisions")} for row in rows],
    }


def task_rows(agent: Agent, tasks: Sequence[TaskName]) -> list[dict[str, Any]]:
    """Each task in one line: what it has had, and its best arm so far."""
    table, rows = agent.tasks_table(tasks, CONFIDENCE), []
    armed, dim = "arm" in table, agent.prior.dim
    for number, task in enumerate(tasks):
        own = range(number * dim, (number + 1) * dim)
        row: dict[str, Any] = {
            "task": task,
            "label": shown(task),
            "key": as_text(task),
            "decisions": table["decisions"][own[0]],
            "rewards": sum(table["rewards"][i] for i in own) if armed else table["rewards"][own[0]],
        }
        if armed:
            best = max(own, key=table["mean"].__getitem__)
            row |= {name: table[name][best] for name in ("arm", "mean", "low", "high")}
        rows.append(row)
    return rows


def population(agent: Agent) -> dict[str, Any]:
    """What tasks have in common, and where what is not known of a typical task comes from.

    `within_var` and `shared_var` are means over the first tasks, at most 50 of them.  In a deep
    hierarchy `groups` has what is known of the first groups of each level.
    """
    table = agent.population_table(CONFIDENCE)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    tasks = agent.tasks_between(0, LOOKED_AT)
    known, dim = agent.tasks_table(tasks, CONFIDENCE), len(rows)
    for name in ("within_var", "shared_var"):
        for place, row in enumerate(rows):
            values = known[name][place::dim]
            row[name] = sum(values) / len(values) if values else None
    table = agent.groups_table(_GROUPS, CONFIDENCE)
    groups = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return {
        "confidence": CONFIDENCE,
        "tasks_looked_at": len(tasks),
        "rows": rows,
        "groups": groups,
    }
