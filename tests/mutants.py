"""Hand-made mutants of the numeric code, and the command that shows the tests kill each of them.

    python tests/mutants.py        # some minutes: the tests run once for every mutant

Each entry is a file, a piece of it, and what stands there instead.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MUTANTS = [
    ("kernels/dense.py", "(var + sqrt(noise_var * var))", "(var - sqrt(noise_var * var))"),
    ("kernels/dense.py", "(var + sqrt(noise_var * var))", "(var + sqrt(noise_var))"),
    ("kernels/dense.py", "u * (residual / var)", "u * (residual / noise_var)"),
    ("kernels/dense.py", "var += scaled[i] * scaled[i]", "var += scaled[i]"),
    ("kernels/dense.py", "residual -= x[i] * mean[node, i]", "residual += x[i] * mean[node, i]"),
    ("kernels/dense.py", "noise = noise_std[e] * noise_std[e]", "noise = noise_std[e]"),
    ("kernels/dense.py", "+= np.log(var[e])", "+= np.log(noise_var[level[nodes[e]]])"),
    ("kernels/dense.py", "residual[e] * residual[e] / var[e]", "residual[e] * residual[e]"),
    ("kernels/dense.py", "pull[p, i] * factor[node, i, j]", "pull[p, i] * factor[node, j, i]"),
    ("kernels/dense.py", "total = mean[node, i]\n", "total = 0.0\n"),
    ("kernels/dense.py", "shared += var", "shared = var"),
    ("kernels/dense.py", "mean[node, i] += gain[i]", "mean[node, i] += 0.5 * gain[i]"),
    ("kernels/diagonal.py", "std * sqrt(before / var)", "std * before / var"),
    ("kernels/diagonal.py", "var += (x * std) ** 2", "var += x * std * std"),
    ("kernels/diagonal.py", "gain = std * std * x\n", "gain = std * std\n"),
    ("kernels/diagonal.py", "std * std * precision[row, i]", "std * precision[row, i]"),
    ("kernels/diagonal.py", "shared += x * x * var", "shared += x * var"),
    ("kernels/diagonal.py", "factor[node, arm] ** 2 * pull", "factor[node, arm] * pull"),
    ("kernels/lineage.py", "if shared or step == 0:", "if step == 0:"),
    ("kernels/lineage.py", "slot_parent[used] = slot", "slot_parent[used] = -1"),
    ("kernels/lineage.py", "place = (place + 1) & mask", "break"),
    ("kernels/choice.py", "skip = int(uniform * ties)", "skip = 0"),
    ("kernels/choice.py", "ties += 1", "ties = 2"),
    ("kernels/choice.py", "table[row, i] * theta[slots[e], i]", "table[row, i] * theta[0, i]"),
    ("kernels/keyed.py", "np.uint64(tasks[e]) * _GOLDEN", "_GOLDEN"),
    ("kernels/tally.py", "counts[r, s] += 1", "counts[r, s] += 0"),
    ("belief.py", "((old - before) + (new - after)) / var", "2 * (old - before) / var"),
    ("contribution.py", "np.eye(forest.dim) - ratio", "np.eye(forest.dim) + ratio"),
    ("contribution.py", "1.0 - looking_up * factor**2", "1.0 - looking_up * factor"),
    ("belief.py", "-1, slot_parent + first", "-1, slot_parent"),
    ("folding.py", "(mean * (weighted + pull))", "(mean * weighted)"),
    ("folding.py", "looking_up * factor**2 * precision", "looking_up * factor * precision"),
    ("folding.py", "log_var = log_var + log_det", "log_var = log_var - log_det"),
    ("contribution.py", "weighted - times(precision, mean)", "weighted"),
    ("contribution.py", "1.0 + factor**2 * precision", "1.0 + factor * precision"),
    ("forest.py", "gain @ (own + inherited) @ gain.T", "gain @ own @ gain.T"),
    ("forest.py", "cov, cov @ looking_up", "cov, cov"),
    ("rules.py", "sqrt(2 * log(1 / delta))", "sqrt(log(1 / delta))"),
    ("rules.py", "(1 - floor) * share + floor / arms.sizes", "share"),
    ("policies.py", "one / LIN_UCB_RIDGE", "one * 2 / LIN_UCB_RIDGE"),
    ("exploration.py", "compute_uv=False)[:, -1] ** 2", "compute_uv=False)[:, 0] ** 2"),
    ("exploration.py", "self.decided[tasks[event]] += 1", "self.decided[tasks[event]] += 2"),
    ("sums.py", "self.xx + other.xx", "self.xx"),
    ("hierarchy.py", "{name: std**2 for", "{name: std for"),
    ("agent.py", "if earlier != reward:", "if False:"),
    ("agent.py", "del self._pending[decision.id]", "pass"),
    ("summary.py", "(1 + level) / 2", "level"),
    ("tracking.py", "least >= self._eta[run, task]", "least >= 0 * self._eta[run, task]"),
    ("environments/hierarchical.py", "best - value", "best + value"),
    ("environments/actions.py", "lengths ** (1 / numbers.shape[-1])", "lengths"),
    ("study.py", "values.std(ddof=1) / np.sqrt(values.size)", "values.std(ddof=1)"),
]


def main() -> None:
    """Try every mutant on a copy of the project; those that live are named last."""
    alive = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        ignored = shutil.ignore_patterns(".*", "results", "bench", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored)
        tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "tests"]
        tests += [f"--ignore=tests/test_{slow}.py" for slow in ("process", "digits", "docs")]
        for number, (name, old, new) in enumerate(MUTANTS, 1):
            path = copy / "src" / "hierbandits" / name
            text = path.read_text()
            path.write_text(text.replace(old, new, 1))
            environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
            killed = subprocess.run(
                tests, cwd=copy, env=environment, capture_output=True
            ).returncode
            path.write_text(text)
            print(f"{number:3}/{len(MUTANTS)}  {'killed' if killed else 'ALIVE '}  {name}: {new!r}")
            if not killed:
                alive.append((name, new))
    sys.exit(f"alive: {alive}" if alive else 0)


if __name__ == "__main__":
    main()
