"""Mutants of what reports claim, check and offer."""

REPORT_MUTANTS = [
    ("learning/verdict.py", "most - value < log(LEAST_ODDS)", "most - value < 0.1"),
    ("learning/verdict.py", "told & ~zero)):", "told)):"),
    ("learning/task_similarity.py", "repeats >= LEAST_REPEATS\n        nan", "True\n        nan"),
    ("learning/task_similarity.py", "seen[own == p].sum(0) - 1, 0)", "seen[own == p].sum(0), 0)"),
    ("learning/task_similarity.py", "whole + np.sqrt(", "whole + 0.1 * np.sqrt("),
    ("learning/similarity_verdict.py", "told & ~zero, told & zero", "told, told & zero"),
    ("learning/calibration.py", "self._gap + 2 * self.error", "self._gap"),
    ("learning/own_fits.py", "np.where(seen, 1 / np.where(seen, xx, 1.0), 0.0)", "seen * 1.0"),
    ("learning/drift_check.py", "late.xy - late.xx * fit.theta", "late.xy + late.xx * fit.theta"),
    ("learning/drift_check.py", "(1 + max(tails, 0.0) / 2)", "1.0"),
    ("learning/peaks_check.py", "(np.bincount(own, values) /", "(0 * np.bincount(own) /"),
    ("learning/peaks_check.py", "- float(np.log(values.size))", ""),
    ("learning/noise_check.py", "/ (1 + max(tails, 0.0) / 2)", ""),
    ("learning/noise_check.py", "- 3 * (n - 1) / (n + 1)", "- 3"),
    ("learning/log_checks.py", "whole / np.where(var > 0, var, 1.0)", "1.0"),
    ("learning/log_offers.py", "np.where(own >= 0, own, anyone)", "anyone"),
    ("learning/log_offers.py", "np.zeros_like(events.interaction)", "events.interaction"),
    ("learning/log_worlds.py", "theta[:, self.played]", "theta"),
]
