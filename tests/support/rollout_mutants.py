"""Mutants of what watches a rollout."""

ROLLOUT_MUTANTS = [
    ("service/wealth.py", "self._bets *= factors", "self._bets += factors"),
    ("service/wealth.py", "(1 - self._first) * begun * self._weights", "0.0 * self._weights"),
    ("service/wealth.py", "return 1 / (1 + log1p(steps))", "return 1.0"),
    ("service/wealth.py", "np.zeros_like(weights)", "weights"),
    ("service/bounded_mean.py", "/ self._bound - 1", "- self._bound"),
    ("service/bounded_mean.py", "_FIRST = 0.5", "_FIRST = 1.0"),
    ("service/sample_ratio.py", "(1 - lost) / (1 - ", "(1 - lost) * (1 + 2 * "),
    (
        "service/sample_ratio.py",
        "(1 - _LATER) * _OF_LOSSES / num_arms",
        "2 * _OF_LOSSES / num_arms",
    ),
    ("service/sample_ratio.py", "self._later / 2, self._later / 2", "self._later, self._later"),
    ("service/guardrail.py", "part if self.at_most is not None else 1 - part", "part"),
    ("service/guardrail.py", "min(1.0, ", "max(0.0, "),
    ("service/ramp.py", "None if self.left is None else now + self.left", "now"),
    ("service/ramp.py", '"rolled back", 0.0, None', '"rolled back", 1.0, None'),
    ("service/rollout_state.py", "FALSE_ALARMS / max(len(guardrails), 1)", "FALSE_ALARMS"),
    ("service/rollout_state.py", '(*_ACTS, "control")', '(*_ACTS, "control", "shadow")'),
    ("service/decision_plan.py", "max(self._settings.control_share, 1 - share)", "1 - share"),
    ("service/decision_plan.py", ' and group != "control"', ""),
    ("policies/odds.py", "or event == first else []", "or True else []"),
]
