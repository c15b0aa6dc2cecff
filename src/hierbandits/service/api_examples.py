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
    "within_var": 0.002, "shared_var": 0.0011, "own_mean": 0.45,
    "population_mean": 0.35, "population_low": 0.28, "population_high": 0.42,
}  # fmt: skip
_FLAG = {
    "key": "shop", "value": "blue", "variant": "blue", "reason": "SPLIT",
    "metadata": {"id": "1.0.5c43073a", "propensity": 0.62, "version": 1, "group": "policy"},
}  # fmt: skip
_EVALUATION = {
    "id": "5f2c0a9be1d47c83", "policy": "shop", "state": "running", "started": 1794843000.0,
    "seconds": 0.0, "findings": None, "problem": None,
}  # fmt: skip
_FINDINGS = {
    "verdict": "The candidate would earn 0.021 more per decision than the log did (95 % interval "
    "0.009 to 0.033), and 0.05 more than always playing 'blue' (95 % interval 0.03 to 0.07).",
    "better_than_log": True, "better_than_best_arm": True, "confidence": 0.95,
    "policies": [
        {
            "policy": "candidate", "reward": {"value": 0.432, "low": 0.42, "high": 0.444},
            "over_log": {"value": 0.021, "low": 0.011, "high": 0.031},
            "over_best_arm": {"value": 0.05, "low": 0.033, "high": 0.067},
            "effective_rows": 1480.2, "arms": None,
        },
    ],
    "rows": 2500, "rows_of_training": 2500, "until_event": 10_000, "warnings": [], "notes": [],
}  # fmt: skip
_CONTEXT = {"context": {"targetingKey": "ada"}}

_STEPS = [{"share": 0.1, "seconds": 3600.0}, {"share": 1.0, "seconds": None}]
_ROLLOUT = {
    "phase": "ramping", "share": 0.1, "previous": None, "steps": _STEPS, "step": 0,
    "next_step": 1794846600.0,
    "guardrails": [
        {
            "name": "refunds", "at_most": 0.05, "at_least": None, "low": 0.0, "high": 1.0,
            "against": "bound", "count": 300, "mean": 0.02, "control_count": 0,
            "control_mean": None, "evidence": 0.31, "needed": 100.0, "is_crossed": False,
        },
    ],
    "sample_ratio": {
        "count": 4000, "evidence": 0.7, "needed": 100.0, "is_off": False,
        "arms": [
            {"arm": "red", "seen": 1010, "expected": 1003.4},
            {"arm": "blue", "seen": 2990, "expected": 2996.6},
        ],
    },
}  # fmt: skip
_CHANGE = {"event": 5001, "time": 1794843000.0, "what": "ramp", "by": "ana"}
_PROMOTION = {
    "step": "shadow", "next": "ramp", "evaluation": "9f86d081884c7d65",
    "verdict": "The candidate earns more than the log.", "shadow": "shop.candidate",
    "shown": 1200, "agreed": 1010,
}  # fmt: skip
_METRICS = {"id": "1.0.5c43073a", "values": {"refunds": "stored"}}

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
    "measure": ({"values": {"refunds": 0.0}}, _METRICS),
    "measure_many": (
        {"metrics": [{"id": "1.0.5c43073a", "values": {"refunds": 0.0}}]},
        {"metrics": [_METRICS]},
    ),
    "show_rollout": (None, _ROLLOUT),
    "change_rollout": ({"action": "start", "steps": _STEPS, "reason": "spring"}, _ROLLOUT),
    "audit": (None, {"total": 1, "changes": [_CHANGE | {"steps": [[0.1, 3600.0], [1.0, None]]}]}),
    "show_promotion": (None, _PROMOTION),
    "promote": ({"step": "shadow"}, _PROMOTION),
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
    "show_task": (
        None,
        {"task": "ada", "label": "ada", "confidence": 0.95, "decisions": 60, "rows": [_ROW]},
    ),
    "history": (
        None,
        {
            "event": 5000, "counts": {"decisions": 2480, "rewarded": 2400, "late": 3},
            "waiting": 80, "width": 3600.0,
            "curve": [
                {
                    "time": 1794841200.0,
                    "groups": {"policy": [120, 118, 51, 51], "control": [30, 29, 9, 9]},
                    "arms": {"red": [20, 20, 6, 6], "blue": [100, 98, 45, 45]},
                }
            ],
            "calibration": [[118, 48.4, 0.35, 51, 51]], "delays": [[64.0, 2100], [128.0, 300]],
        },
    ),
    "recent_decisions": (
        None,
        {
            "event": 5000,
            "decisions": [
                {
                    "id": "1.0.5c43073a", "task": "ada", "label": "ada", "key": '"ada"',
                    "arm": "blue", "propensity": 0.62, "time": 1794843000.0, "gap": 0.0,
                    "expected": 0.41, "arms": 2, "group": "policy", "version": 1,
                    "reward": 1.0, "provisional": False,
                }
            ],
        },
    ),
    "population": (
        None,
        {
            "confidence": 0.95, "tasks_looked_at": 50,
            "rows": [
                {
                    "arm": "blue", "mean": 0.35, "low": 0.28, "high": 0.42, "var": 0.0012,
                    "within_var": 0.004, "shared_var": 0.0011,
                }
            ],
            "groups": [],
        },
    ),
    "account": (
        None,
        {
            "decision": {"id": "1.0.5c43073a", "task": "ada", "arm": "blue", "propensity": 0.62},
            "why": ["In 62 % of the draws “blue” was the best arm."],
            "how": "draws", "by": "rule", "played_draw": 1, "num_arms": 2, "problem": None,
            "arms": [
                {
                    "arm": "blue", "mean": 0.41, "low": 0.3, "high": 0.52,
                    "scores": {"value": 0.44, "best in draws": 0.62},
                }
            ],
            "draws": [[0.39], [0.44]],
        },
    ),
    "delete_task": (None, {"events_changed": 60}),
    "start_evaluation": ({"rule": "HierTS", "floor": 0.05}, _EVALUATION),
    "show_evaluation": (
        None, _EVALUATION | {"state": "done", "seconds": 4.2, "findings": _FINDINGS},
    ),
    "health": (None, {"status": "alive"}),
    "ready": (None, {"status": "ready"}),
    "evaluate_flag": (_CONTEXT, _FLAG),
    "evaluate_flags": (_CONTEXT, {"flags": [_FLAG]}),
}  # fmt: skip
"""By the name of the operation: the body, if it has one, and the reply."""
