"""A request and a reply of each operation that takes or gives more than a word."""

from typing import Any

_DECISION = {"id": "1.0.5c43073a", "task": "ada", "arm": "blue", "propensity": 0.62, "version": 1}
_NEWS = ["red", "blue"]
_POLICY = {
    "name": "shop", "version": 1, "settings": {"arms": _NEWS}, "created": 1794843000.0,
    "tasks": 120, "events": 5000, "rewards": 2400, "pending": 80, "arms": _NEWS,
}  # fmt: skip
_REWARD = {"id": "1.0.5c43073a", "status": "learned"}
_PROBLEM = {
    "status": 404, "code": "not_found", "title": "Not Found",
    "detail": "decision '7.0.5c43073a' is not known",
}  # fmt: skip
_ROW = {
    "arm": "blue", "rewards": 31, "mean": 0.41, "low": 0.3, "high": 0.52,
    "within_var": 0.002, "shared_var": 0.0011,
}  # fmt: skip
_FLAG = {
    "key": "shop", "value": "blue", "variant": "blue", "reason": "SPLIT",
    "metadata": {"id": "1.0.5c43073a", "propensity": 0.62, "version": 1, "group": "policy"},
}  # fmt: skip
_CONTEXT = {"context": {"targetingKey": "ada"}}

EXAMPLES: dict[str, tuple[Any, Any]] = {
    "decide": ({"task": "ada", "id": "order-17"}, _DECISION | {"id": "order-17"}),
    "decide_round": (
        {"decisions": [{"task": "ada"}, {"task": "bob", "arms": ["red"]}]},
        {
            "decisions": [
                _DECISION,
                _DECISION | {"id": "1.1.5c43073a", "task": "bob", "arm": "red", "propensity": 1.0},
            ]
        },
    ),
    "show_decision": (
        None,
        {
            "id": "1.0.5c43073a", "task": "ada", "arm": "blue", "features": 1, "propensity": 0.62,
            "time": 1794843000.0, "offered": _NEWS, "gap": 0.0, "policy_version": 1,
            "reward": 1.0, "provisional": False,
        },
    ),
    "reward": ({"value": 1.0}, _REWARD),
    "correct": ({"value": 0.0}, _REWARD | {"status": "corrected"}),
    "reward_many": (
        {"rewards": [{"id": "1.0.5c43073a", "value": 1.0}, {"id": "7.0.5c43073a", "value": 0.0}]},
        {"rewards": [_REWARD, _PROBLEM]},
    ),
    "list_policies": (None, [_POLICY]),
    "show_policy": (None, _POLICY),
    "put_policy": (
        {"arms": _NEWS, "rewards": "bernoulli", "reward_wait": 86400.0, "default_reward": 0.0},
        {"name": "shop", "version": 1, "created": True},
    ),
    "list_versions": (
        None,
        [{"version": 1, "after_event": 0, "created": 1794843000.0, "settings": {"arms": _NEWS}}],
    ),
    "add_arm": ({"name": "green"}, _POLICY | {"arms": [*_NEWS, "green"]}),
    "retire_arm": (None, _POLICY | {"arms": ["blue"]}),
    "list_tasks": (None, {"total": 2, "tasks": ["ada", "bob"]}),
    "show_task": (None, {"task": "ada", "confidence": 0.95, "decisions": 60, "rows": [_ROW]}),
    "delete_task": (None, {"events_changed": 60}),
    "health": (None, {"status": "alive"}),
    "ready": (None, {"status": "ready"}),
    "evaluate_flag": (_CONTEXT, _FLAG),
    "evaluate_flags": (_CONTEXT, {"flags": [_FLAG]}),
}  # fmt: skip
"""By the name of the operation: the body, if it has one, and the reply."""
