"""Hand-made mutants of what reads and inspects logs; see `tests/mutants.py`."""

LOG_MUTANTS = [
    (
        "logs/cleaner.py",
        "missing = self._missing(frame[name]) & keep",
        "missing = self._missing(frame[name])",
    ),
    (
        "logs/cleaner.py",
        "rows = np.arange(start, start + frame.height)",
        "rows = np.arange(frame.height)",
    ),
    ("logs/repeats.py", "copies or not each.same", "copies"),
    ("logs/repeats.py", "rows[chosen]", "np.flatnonzero(chosen)"),
    ("logs/times.py", "- pl.duration(minutes=minutes)", "+ pl.duration(minutes=minutes)"),
    ("logs/times.py", '.str.pad_end(9, "0")', '.str.pad_start(9, "0")'),
    ("logs/times.py", "moments.set(zoned != self._is_zoned, None)", "moments"),
    ("logs/numbers.py", ".set(pointed, None)", ""),
    ("logs/distinct_count.py", "(SIZE - 1) / (", "SIZE / 2 / ("),
    ("logs/log_summary.py", "new = self.rows[met] < 0", "new = self.rows[met] < 10**9"),
    (
        "logs/name_problems.py",
        "key=lambda place: -counts[place]",
        "key=lambda place: counts[place]",
    ),
    ("logs/column_profile.py", "2 * rows.astype(np.uint64) + np.uint64(1)", "np.uint64(1)"),
    ("logs/limits.py", "if armed and dim > self.fit_arms:", "if dim > self.fit_arms:"),
    ("logs/context_column.py", "(cells - self.mean) / self.std", "(cells - self.mean) * self.std"),
    ("logs/context_column.py", "ones - np.array(self.shares[1:])", "ones * 1.0"),
    ("logs/column_fit.py", "(-self._counts[value], str(value))", "(self._counts[value],)"),
    ("logs/encoder.py", "x[:, own, own] =", "x[:, own, 0] ="),
    ("evaluation/context_training.py", "half, z)", "half, np.abs(z))"),
    ("evaluation/training.py", "blocks[:, :, 0]", "blocks[:, :, 1]"),
    ("evaluation/weighing.py", "chosen[:, :, None] * contexts[:, None, :]", "chosen[:, :, None]"),
    ("agent/task_rows.py", "(self.cells[row].tolist(),)", "()"),
]
