"""A decision as one row of a table that people look at."""

from typing import Any

from hierbandits.agent.decision import task_name
from hierbandits.service.stored_event import as_text
from hierbandits.service.task_index import shown

_NAMES = ("id", "task", "arm", "propensity", "time", "gap", "expected")


def decision_row(parts: dict[str, Any], version: int) -> dict[str, Any]:
    """A stored decision of a version of a policy, without its reward."""
    row = {name: parts.get(name) for name in _NAMES}
    row["label"] = shown(task_name(parts["task"]))
    row["key"] = as_text(parts["task"])
    row["arms"] = len(parts["offered"])
    row["group"], row["version"] = parts.get("group", "policy"), version
    return row | ({"would": parts["would"]} if "would" in parts else {})
