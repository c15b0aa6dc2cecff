"""Hand-made mutants of the numeric code, and the command that shows the tests kill each of them.

    python tests/mutants.py                            # a quarter of an hour
    python tests/mutants.py beliefs/ simulation/study.py        # those of some files alone

Each entry is a file, a piece of it, and what stands there instead.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from support.agent_mutants import AGENT_MUTANTS
from support.border_mutants import BORDER_MUTANTS
from support.family_mutants import FAMILY_MUTANTS
from support.file_mutants import FILE_MUTANTS
from support.grid_mutants import GRID_MUTANTS
from support.kernel_mutants import KERNEL_MUTANTS
from support.log_mutants import LOG_MUTANTS
from support.report_mutants import REPORT_MUTANTS
from support.rollout_mutants import ROLLOUT_MUTANTS

ROOT = Path(__file__).parent.parent
SLOW = (
    *("cli", "experiments", "test_compiler.py", "test_main.py", "test_docs.py"),
    "test_memory_safety.py",
)
MUTANTS = [
    *KERNEL_MUTANTS,
    *GRID_MUTANTS,
    *BORDER_MUTANTS,
    *FILE_MUTANTS,
    *AGENT_MUTANTS,
    *FAMILY_MUTANTS,
    *LOG_MUTANTS,
    *REPORT_MUTANTS,
    *ROLLOUT_MUTANTS,
    ("beliefs/nodes.py", "update(parts)\n        self._show(self.state)\n", "update(parts)\n"),
    ("keyed_random.py", "np.uint64(tasks[e]) * _GOLDEN", "_GOLDEN"),
    (
        "beliefs/common_tasks.py",
        "gain * (self.tau * self.common_mean)[:, None]",
        "gain * self.common_mean[:, None]",
    ),
    (
        "beliefs/common_tasks.py",
        "= -scaled[mine].T @ scaled[mine]",
        "= scaled[mine].T @ scaled[mine]",
    ),
    (
        "beliefs/common_tasks.py",
        "self.tau * self.heard.sum(1) * self.common_mean",
        "self.heard.sum(1) * self.common_mean",
    ),
    (
        "fitting/factored_tasks.py",
        "(through * turned[i]).T @ turned[j]",
        "turned[i].T @ turned[j]",
    ),
    ("fitting/factored_tasks.py", "around -= cross + cross.T", "around -= cross"),
    (
        "fitting/factored_tasks.py",
        "gain**2 * (known + spread)",
        "gain * (known + spread)",
    ),
    (
        "fitting/structure.py",
        "own = np.diagonal(scatter) - 2 * along + common",
        "own = np.diagonal(scatter) - along",
    ),
    (
        "fitting/structure.py",
        "np.append(np.diagonal(gradient), gradient.sum())",
        "np.append(np.diagonal(gradient), gradient.mean())",
    ),
    (
        "fitting/structure.py",
        "widths * np.log(np.pi / 2) + others",
        "widths * np.log(np.pi) + others",
    ),
    ("fitting/objective.py", "log_volume -= np.log(curv", "log_volume += np.log(curv"),
    ("learning/correlations.py", "cov / np.outer(std, std)", "cov / np.outer(std, std) ** 2"),
    ("learning/predictor.py", "(node, features, features)", "(node, features, 0 * features)"),
    ("models/stated_arms.py", '"task_std"]) + width**2', '"task_std"]) + width'),
    ("models/stated_arms.py", "(correlation.sum(0) - 1.0) /", "correlation.sum(0) /"),
    ("models/stated_covs.py", "np.diagonal(cov) - common", "np.diagonal(cov)"),
    ("beliefs/task_sums.py", "self.xx[:, :, None] * np.eye", "0 * self.xx[:, :, None] + np.eye"),
    (
        "evaluation/direct_method.py",
        "if model.table is None and model.belief.is_diagonal:\n        within",
        "if model.table is None:\n        within",
    ),
    (
        "evaluation/direct_method.py",
        "if model.table is None and model.belief.is_diagonal:\n        var",
        "if model.table is None:\n        var",
    ),
    ("beliefs/revision.py", "((old - mean) + (new - new_mean))", "2 * (old - mean)"),
    ("beliefs/contribution.py", "np.eye(nodes.dim) - squared", "np.eye(nodes.dim) + squared"),
    ("beliefs/contribution.py", "maximum(1.0 - factor**2", "maximum(1.0 - factor"),
    ("beliefs/round_slots.py", "-1, parent + first", "-1, parent"),
    ("beliefs/folding.py", "(mean * (weighted + residual))", "(mean * weighted)"),
    ("algebra.py", "(spread > _MOST_SPREAD) | (pivots < 0.9)", "(pivots < 0.9)"),
    ("algebra.py", "np.where(values > floor, values, 0.0)", "np.maximum(values, 0.0)"),
    (
        "algebra.py",
        "np.where(values > 0, times(transposed(vectors), weighted), 0.0)",
        "times(transposed(vectors), weighted)",
    ),
    ("algebra.py", "(values / (1.0 + values))[..., None, :]", "values[..., None, :]"),
    ("algebra.py", "root @ (transposed(root) @ information)", "root @ information"),
    ("beliefs/revision.py", "square + self.change, float(count)", "square, float(count)"),
    ("beliefs/revision.py", "abs(self.mean), abs(self.new_mean), self.std", "0.0, 0.0, 0.0"),
    ("beliefs/revision.py", "self.size, self.new_size, max", "0.0, self.new_size, max"),
    ("beliefs/revision.py", "before - old**2 + new**2", "before"),
    ("beliefs/revision.py", "after >= _LESS * before or", ""),
    ("beliefs/levels.py", "0 < most > least * SHARPEST**2", "False"),
    ("beliefs/levels.py", "min(self.reach, reach)", "reach"),
    ("beliefs/levels.py", "sizes > self.reach * noise", "sizes > self.largest_feature"),
    ("beliefs/node_data.py", "up @ told.message @ transposed(up)", "up @ transposed(up)"),
    ("beliefs/node_data.py", "(own * start) ** 2 * precision", "own * start * precision"),
    ("beliefs/node_data.py", "times(transposed(heard), rest)", "rest"),
    ("algebra.py", "return gain * information", "return information"),
    ("algebra.py", "values > _rounding(values), values, FLOOR", "values > 0, values, FLOOR"),
    ("algebra.py", "values[0] > 1e-4 * values[-1]", "values[0] > 1e-12 * values[-1]"),
    ("beliefs/folding.py", "log_var = log_var + log_det", "log_var = log_var - log_det"),
    ("algebra.py", "weighted - times(precision, mean)", "weighted"),
    ("algebra.py", "1.0 + factor**2 * precision", "1.0 + factor * precision"),
    ("beliefs/nodes.py", "gain @ (own + inherited) @ gain.T", "gain @ own @ gain.T"),
    ("kernels/dense_gain.py", "own @ cov @ up", "own @ cov"),
    ("policies/ucb_rule.py", "sqrt(2 * log(1 / delta))", "sqrt(log(1 / delta))"),
    (
        "policies/policy.py",
        "(1 - floor) * shares + floor / arms.sizes",
        "shares",
    ),
    (
        "policies/odds.py",
        "np.bincount(event, hit, sizes.size) / ties",
        "np.bincount(event, hit, sizes.size)",
    ),
    (
        "policies/odds.py",
        "(self.rounds == _checked(played, self.choices)).mean(axis=0)",
        "(self.rounds == self.choices).mean(axis=0)",
    ),
    ("policies/thompson_rule.py", "fresh=self.fresh, ", ""),
    ("policies/thompson_rule.py", ", scale=self.scale)", ")"),
    ("beliefs/posterior.py", "centre + scale * (theta[slots] - centre)", "scale * theta[slots]"),
    ("policies/frozen_rules.py", "normals[place] * self.scale", "normals[place]"),
    ("policies/odds.py", "second * (1 - self.share)", "second * self.share"),
    ("policies/ucb_rule.py", "(ends[1] - bounds) * rng", "ends[1] * rng"),
    ("policies/ids_rule.py", "repeats=number, fresh=True", "repeats=number"),
    ("agent/decider.py", "has_propensities and leaves_arms_out", "leaves_arms_out"),
    ("experiments/rule_comparison.py", "cell.ratio(name, best, half)", "cell.ratio(name, best)"),
    ("experiments/rule_comparison.py", "[2] > TOO_MUCH", "[1] > TOO_MUCH"),
    ("models/log_totals.py", "sqrt(own[0] * self.yy)", "abs(own[1])"),
    (
        "models/hierarchy.py",
        "[known.index(name) for name in names]",
        "[names.index(name) for name in known]",
    ),
    ("models/variants.py", "one / RIDGE", "one * 2 / RIDGE"),
    ("policies/spanning_arms.py", "compute_uv=False)[:, -1] ** 2", "compute_uv=False)[:, 0] ** 2"),
    (
        "policies/forced_start.py",
        "self.decided[nodes[event]] += 1",
        "self.decided[nodes[event]] += 2",
    ),
    ("beliefs/task_sums.py", "self.xx + other.xx", "self.xx"),
    ("beliefs/task_sums.py", "mean.max(initial=0.0) or 1.0", "1.0"),
    ("models/stated_widths.py", "variances[name] = std**2", "variances[name] = std"),
    (
        "policies/odds.py",
        "np.bincount(event, hit, sizes.size) / ties",
        "np.bincount(event, hit, sizes.size)",
    ),
    ("models/stated_widths.py", "else values.mean())", "else values[0])"),
    ("algebra.py", "(1 + confidence) / 2", "confidence"),
    (
        "simulation/variance_sum.py",
        "least >= self._eta[run, task]",
        "least >= 0 * self._eta[run, task]",
    ),
    ("environments/hierarchical_bandit.py", "best - value", "best + value"),
    ("environments/action_sets.py", "lengths ** (1 / numbers.shape[-1])", "lengths"),
    (
        "beliefs/evidence.py",
        "- half * log_square - self.log_var / 2",
        "- half * log_square - self.log_var",
    ),
    ("beliefs/evidence.py", "gammaln(half) - half * log_square", "-half * log_square"),
    ("beliefs/standard_units.py", "slope = mean[:, c] / size[c]", "slope = mean[:, c]"),
    ("beliefs/standard_units.py", "size - slope**2 * size[c]", "size - slope**2"),
    ("beliefs/standard_units.py", "self._plus_slope(1.0)", "self._plus_slope(-1.0)"),
    ("beliefs/standard_units.py", "np.argmax(tied", "np.argmin(tied"),
    ("beliefs/standard_units.py", "sums.xy @ turn.T / self.reward", "sums.xy @ turn.T"),
    ("beliefs/width_refit.py", "NOISE]).mean() / 2)", "NOISE]).mean())"),
    ("beliefs/width_refit.py", "float(units.reward * self._others", "float(self._others"),
    ("beliefs/width_refit.py", "vectors * np.exp(values) @", "vectors * values @"),
    ("beliefs/width_refit.py", "np.argsort(-n[tasks]", "np.argsort(n[tasks]"),
    ("beliefs/width_refit.py", "last + _LEAST_FIRST_WIDTH**2 * one", "last"),
    ("beliefs/width_refit.py", "except ValueError:", "except KeyError:"),
    ("beliefs/review.py", "(nodes < self.folded)", "(nodes <= self.folded)"),
    ("beliefs/growing_rows.py", "self._moved <= row <", "self._moved < row <"),
    ("beliefs/adaptive_belief.py", "self._raw_check_leaves(nodes)  #", "pass  #"),
    ("beliefs/adaptive_belief.py", "told = review.knows(nodes)", "told = nodes >= 0"),
    (
        "beliefs/adaptive_belief.py",
        "and node < review.folded:\n            review.belief._raw_observe_one",
        "and node <= review.folded:\n            review.belief._raw_observe_one",
    ),
    (
        "beliefs/adaptive_belief.py",
        "and node < review.folded:\n            nodes, evidence",
        "and node <= review.folded:\n            nodes, evidence",
    ),
    (
        "beliefs/adaptive_belief.py",
        "min(review.folded, self.num_nodes)",
        "review.folded",
    ),
    ("beliefs/adaptive_belief.py", "GROWTH, LATE_GROWTH)", "LATE_GROWTH, GROWTH)"),
    ("beliefs/adaptive_belief.py", "self.due.copy()", "self.due"),
    ("beliefs/evidence.py", "populations] += other.parts", "populations] = other.parts"),
    (
        "algebra.py",
        "vectors / np.sqrt(1.0 + values)",
        "vectors / (1.0 + values)",
    ),
    ("beliefs/nodes.py", "levels[tree[parent[tasks]]] + 1", "levels[tree[parent[tasks]]]"),
    ("beliefs/task_sums.py", "new**2 - old**2", "(new - old) ** 2"),
    ("fitting/expectation.py", "u**2 - seen + seen**2 * cov", "u**2 - seen"),
    ("fitting/expectation.py", "return twice / 2", "return twice"),
    (
        "fitting/expectation.py",
        "turned = part.seen + part.seen @ around",
        "turned = part.seen @ around",
    ),
    ("fitting/weak_prior.py", "/ NOISE_SPREAD**2 + np.log(size)", "/ NOISE_SPREAD**2"),
    ("fitting/units.py", "(2 * sums.xy - self.centre * sums.xx)", "(2 * sums.xy)"),
    ("beliefs/weighed_sums.py", "sums.xy * weights", "sums.xy"),
    ("learning/one_noise.py", "1 / variances)", "variances)"),
    ("fitting/means.py", "np.clip(2 / np.maximum", "np.clip(1 / np.maximum"),
    ("fitting/means.py", "variances + 2 * change", "variances + change"),
    ("fitting/interval_level.py", "0.1 * 2.0 ** -", "0.1 * 3.0 ** -"),
    ("fitting/interval_level.py", "tasks - (tasks > 0)", "tasks"),
    ("fitting/weak_prior.py", "(1 / cov - 1)", "(1 / cov + 1)"),
    ("learning/log_worlds.py", "self.noise_std[events.run] * luck", "luck"),
    ("learning/log_worlds.py", "luck, best - value", "luck, value - best"),
    ("learning/players.py", "np.delete(np.arange(len(self.sums.n)), self.own)", "self.own"),
    ("learning/players.py", "nodes[:, acting].ravel()", "nodes[:, -self.num_tasks :].ravel()"),
    ("learning/players.py", "if self.learns:", "if True:"),
    ("learning/promises.py", 'method="weibull"', 'method="linear"'),
    ("learning/promises.py", "ours - ratio * theirs", "ours - theirs"),
    ("learning/start_trial.py", "np.outer(factor, factor)", "factor"),
    ("beliefs/first_widths.py", "square / count, LEAST", "square, LEAST"),
    ("beliefs/first_widths.py", "log_var + square / noise_var", "square / noise_var"),
    ("beliefs/first_widths.py", "width**2 * one]", "width * one]"),
    ("beliefs/hierarchy_draws.py", "var = width**2 if", "var = width if"),
    ("beliefs/hierarchy_draws.py", "noise * units.reward", "noise"),
    ("learning/outliers.py", "cov + prior.task_cov", "cov"),
    ("learning/outliers.py", "adjusted <= FALSE_ALARMS", "p_value <= FALSE_ALARMS"),
    ("learning/outlier_rows.py", "np.sqrt((var + noise_std**2)[arms])", "np.sqrt(var[arms])"),
    ("learning/outlier_rows.py", "np.argsort(-far", "np.argsort(far"),
    ("learning/forest_section.py", "REACH * shrinkage.std[order, j]", "shrinkage.std[order, j]"),
    ("learning/forest_section.py", "np.append(first, by_rows", "np.append(by_rows[:0], by_rows"),
    ("reporting/interval_lookup.py", "self.home_mean[:, groups]", "self.home_reach[:, groups]"),
    ("reporting/provenance.py", "facts.st_size <= most_bytes", "True"),
    ("reporting/figure_text.py", "letter in undrawn or", ""),
    ("learning/shrinkage.py", "weight=gains.mean(1)", "weight=1 - gains.mean(1)"),
    ("evaluation/estimators.py", "(n * mean) ** 2 / np.where", "n * mean**2 / np.where"),
    ("evaluation/estimators.py", "np.where(some, -value * scale, 0.0)", "np.zeros_like(value)"),
    ("evaluation/estimators.py", "*linear.weights(), -1.0)", "*linear.weights(), 1.0)"),
    ("evaluation/estimators.py", "np.nan, size - 1)", "np.nan, size)"),
    ("evaluation/difference.py", "(-np.asarray(w) for w", "(np.asarray(w) for w"),
    ("evaluation/regret_bounds.py", "var[:, :, None] - 2 * covs", "var[:, :, None] - covs"),
    ("evaluation/evaluation_verdict.py", "high < 0 for _, high", "low < 0 for low, _"),
    ("evaluation/frozen_policies.py", "cls(training.arm_values())", "cls(-training.arm_values())"),
    ("evaluation/replay.py", "rows.tasks[agreed], features", "rows.tasks[agreed][::-1], features"),
    ("simulation/study.py", "float(values[0]), np.nan", "float(values[0]), 0.0"),
    ("simulation/study.py", "own - ratio * others", "own - others"),
    ("simulation/study.py", "values.std(ddof=1) / np.sqrt(values.size)", "values.std(ddof=1)"),
]


def _likeliest(project: Path, name: str) -> list[list[str]]:
    """Tests in the order in which to try them: those of the file, of its folder, and all."""
    folder = Path("tests") / Path(name).parent
    own = sorted((project / folder).glob(f"test_{Path(name).stem}*.py"))
    files = [str(path.relative_to(project)) for path in own]
    return [some for some in (files, [str(folder)], ["tests"]) if some]


def _compile_users_again(path: Path) -> None:
    """Forget compiled kernels that call functions of this file: numba knows of their own alone."""
    users = [user.read_text() for user in path.parent.glob("*.py")]
    if any(f".{path.stem} import" in text for text in users):
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)


def _fails(project: Path, tests: list[str]) -> bool:
    """Whether some test fails in a copy of the project."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    command += [f"--ignore=tests/{slow}" for slow in SLOW]
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    return (
        subprocess.run(command, cwd=project, env=environment, capture_output=True).returncode != 0
    )


def main() -> None:
    """Try every mutant on a copy of the project; those that live are named last."""
    alive = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        ignored = shutil.ignore_patterns(".*", "results", "bench", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=ignored)
        chosen = [m for m in MUTANTS if m[0].startswith(tuple(sys.argv[1:] or [""]))]
        for number, (name, old, new) in enumerate(chosen, 1):
            path = copy / "src" / "hierbandits" / name
            text = path.read_text()
            path.write_text(text.replace(old, new, 1))
            _compile_users_again(path)
            killed = any(_fails(copy, tests) for tests in _likeliest(copy, name))
            path.write_text(text)
            _compile_users_again(path)
            print(f"{number:3}/{len(chosen)}  {'killed' if killed else 'ALIVE '}  {name}: {new!r}")
            if not killed:
                alive.append((name, new))
    sys.exit(f"alive: {alive}" if alive else 0)


if __name__ == "__main__":
    main()
