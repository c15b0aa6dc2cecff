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

ROOT = Path(__file__).parent.parent
SLOW = ("cli", "experiments", "test_compiler.py", "test_main.py", "test_docs.py")
MUTANTS = [
    ("kernels/dense.py", "(var + sqrt(noise_var * var))", "(var - sqrt(noise_var * var))"),
    ("kernels/dense.py", "(var + sqrt(noise_var * var))", "(var + sqrt(noise_var))"),
    ("kernels/dense.py", "gain = y / var", "gain = y / noise_var"),
    ("kernels/dense.py", "square += scaled[i] * scaled[i]", "square += scaled[i]"),
    ("kernels/dense.py", "y -= centre", "y += centre"),
    ("kernels/dense.py", "var = noise_std[e] * noise_std[e]", "var = noise_std[e]"),
    ("kernels/dense.py", "np.log(innovations[1, e])", "np.log(2 * innovations[1, e])"),
    (
        "kernels/dense.py",
        "innovations[0, e] * innovations[0, e] / innovations[1, e]",
        "innovations[0, e] * innovations[0, e]",
    ),
    ("kernels/dense.py", "shared += square", "shared = square"),
    ("kernels/dense.py", "maps[row, 2, i, j] * scaled[j]", "maps[row, 0, i, j] * scaled[j]"),
    ("kernels/dense.py", "maps[row, 3, i, j] * cov_x[j]", "maps[row, 1, i, j] * cov_x[j]"),
    ("kernels/dense.py", "if purpose == SHIFT:\n", "if False:\n"),
    (
        "kernels/dense_draws.py",
        "heard[p, i] * state[node, i, j]",
        "heard[p, i] * state[node, j, i]",
    ),
    ("kernels/dense_draws.py", "total = state[node, dim, i]\n", "total = 0.0\n"),
    ("kernels/dense_draws.py", "        if not assumed[row, 1]:", "        if False:"),
    ("kernels/dense_draws.py", "heard[i] * blocks[b, i, j]", "heard[i] * blocks[b, j, i]"),
    (
        "kernels/dense_draws.py",
        "place = level[path[s]], first + s * dim",
        "place = level[path[s]], first",
    ),
    ("kernels/diagonal.py", "std * sqrt(noise_var / var)", "std * noise_var / var"),
    ("kernels/diagonal.py", "noise_var + (x * std) ** 2", "noise_var + x * std * std"),
    ("kernels/diagonal.py", "cov_x = std * std * x\n", "cov_x = std * std\n"),
    ("kernels/diagonal.py", "std * inherit(own, i, out[p, i])", "inherit(own, i, out[p, i])"),
    ("kernels/diagonal.py", "shared += along * cov_x", "shared += cov_x"),
    ("kernels/diagonal.py", "state[node, 0, arm] ** 2 * own", "state[node, 0, arm] * own"),
    ("kernels/lineage.py", "if shared or step == 0:", "if step == 0:"),
    ("kernels/lineage.py", "slot_parent[used] = slot", "slot_parent[used] = -1"),
    ("kernels/lineage.py", "place = (place + 1) & mask", "break"),
    ("kernels/tie_breaking.py", "skip = int(uniform * ties)", "skip = 0"),
    ("kernels/tie_breaking.py", "ties + (value == top)", "ties"),
    ("kernels/tie_breaking.py", "1 if value > top else ties +", "ties +"),
    ("kernels/exact_addition.py", "weight * x[j]", "x[j]"),
    ("kernels/exact_addition.py", "(had - (total - back)) + (more - back)", "more - back"),
    ("kernels/exact_addition.py", "rounding(sums[task, xy + i], more)", "0.0"),
    (
        "kernels/node_address.py",
        "carray(pointer(at[4]), (nodes, d + 1, d)",
        "carray(pointer(at[4]), (nodes, d, d)",
    ),
    ("kernels/dense_draws.py", "if below[p] < 0:", "if s == 1:"),
    ("beliefs/nodes.py", "update(parts)\n        self._show()\n", "update(parts)\n"),
    (
        "kernels/tie_breaking.py",
        "t2 * laid[i + 2, k] + t3 * laid[i + 3, k]",
        "t2 * laid[i + 2, k]",
    ),
    ("keyed_random.py", "np.uint64(tasks[e]) * _GOLDEN", "_GOLDEN"),
    ("kernels/tally.py", "counts[r, s] += 1", "counts[r, s] += 0"),
    ("kernels/arm_vectors.py", "_table(nodes), table[rows], out", "_table(nodes), rows, out"),
    ("kernels/common_part.py", "w[arm] = u * z_var * (1.0", "w[arm] = u * (1.0"),
    (
        "kernels/common_part.py",
        "-u * tau_var * z_var * block[1, b]",
        "u * tau_var * z_var * block[1, b]",
    ),
    ("kernels/common_part.py", "block[1, arm] += u * u / var", "block[1, arm] += u / var"),
    ("kernels/common_part.py", "std * std * x * (y / var)", "std * x * (y / var)"),
    (
        "kernels/common_part.py",
        "block[0, last] ** 2 * own[0, last] * u * amount",
        "block[0, last] ** 2 * own[0, last] * amount",
    ),
    ("kernels/common_part.py", "+ (x * block[0, last]) ** 2", ""),
    ("kernels/common_part.py", "- tau * std * std * along", "- std * std * along"),
    ("kernels/common_part.py", "root[i, j] -= step * f[j]", "root[i, j] += step * f[j]"),
    (
        "beliefs/common_tasks.py",
        "(self.tau * self.common_mean)[:, None] * self.told",
        "self.common_mean[:, None] * self.told",
    ),
    (
        "beliefs/common_tasks.py",
        "- scaled[mine].T @ scaled[mine]",
        "+ scaled[mine].T @ scaled[mine]",
    ),
    (
        "beliefs/common_tasks.py",
        "self.tau * self.heard.sum(1) * self.common_mean",
        "self.heard.sum(1) * self.common_mean",
    ),
    (
        "fitting/factored_tasks.py",
        "(var**2 * through * along).T @ along",
        "(var * through * along).T @ along",
    ),
    ("fitting/factored_tasks.py", "- cross - cross.T", "- cross"),
    (
        "fitting/factored_tasks.py",
        "var * (gain * self.loading) ** 2",
        "var * gain * self.loading**2",
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
    ("fitting/objective.py", "- np.log(curvatures).sum()", "+ np.log(curvatures).sum()"),
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
    ("beliefs/belief.py", "((old - before) + (new - after)) / var", "2 * (old - before) / var"),
    ("beliefs/contribution.py", "np.eye(nodes.dim) - squared", "np.eye(nodes.dim) + squared"),
    ("beliefs/contribution.py", "1.0 - factor[:, 0] ** 2", "1.0 - factor[:, 0]"),
    ("beliefs/round_slots.py", "-1, parent + first", "-1, parent"),
    ("beliefs/folding.py", "(mean * (weighted + residual))", "(mean * weighted)"),
    ("algebra.py", "return gain * information", "return information"),
    ("algebra.py", "values > _rounding(values), values, FLOOR", "values > 0, values, FLOOR"),
    ("algebra.py", "values[0] > 1e-4 * values[-1]", "values[0] > 1e-12 * values[-1]"),
    ("beliefs/folding.py", "log_var = log_var + log_det", "log_var = log_var - log_det"),
    ("algebra.py", "weighted - times(precision, mean)", "weighted"),
    ("algebra.py", "1.0 + factor**2 * precision", "1.0 + factor * precision"),
    ("beliefs/nodes.py", "gain @ (own + inherited) @ gain.T", "gain @ own @ gain.T"),
    ("beliefs/nodes.py", "half @ maps[:, 1]", "half"),
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
        "(self.rounds == played).mean(axis=0)",
        "(self.rounds == self.choices).mean(axis=0)",
    ),
    ("policies/thompson_rule.py", "fresh=self.fresh,\n", "\n"),
    ("policies/thompson_rule.py", "scale=self.scale,\n", "\n"),
    ("beliefs/posterior.py", "centre + scale * (theta[slots] - centre)", "scale * theta[slots]"),
    ("policies/frozen_rules.py", "draws, dim) * self.scale", "draws, dim)"),
    ("policies/odds.py", "second * (1 - self.share)", "second * self.share"),
    ("policies/ucb_rule.py", "(ends[1] - bounds) * rng", "ends[1] * rng"),
    ("policies/ids_rule.py", "repeats=self.draws, fresh=True", "repeats=self.draws"),
    ("agent/decider.py", "draws is not None and leaves_arms_out", "leaves_arms_out"),
    ("kernels/information.py", "values[m, best] - values[m, a]", "values[m, best]"),
    ("kernels/information.py", "costs[0, a] /= draws", "pass"),
    ("kernels/information.py", "/ wins[best] - mean", "/ wins[best]"),
    ("kernels/information.py", "wins[best] / draws * off * off", "off * off"),
    ("kernels/information.py", "2.0 * costs[1, b] / rise", "costs[1, b] / rise"),
    ("kernels/information.py", "cost * cost < least * insight", "cost < least * insight"),
    ("kernels/information.py", "slots[m * num_events + e]", "slots[m + e]"),
    ("kernels/random_bounds.py", "2.0 * growth * log(ratio)", "growth * log(ratio)"),
    ("kernels/random_bounds.py", "if std < FARTHEST * least else FARTHEST", "if True else 0"),
    ("kernels/random_bounds.py", "mean[k] + (own - jitter) * std[k]", "mean[k] + own * std[k]"),
    ("kernels/random_bounds.py", "sqrt(within_var[k] + shared_var[k])", "sqrt(within_var[k])"),
    ("kernels/random_bounds.py", "even(normals[first + size])) / 2.0 * ties", "0.0) / 2.0"),
    ("kernels/random_bounds.py", "own, x) / ties", "own, x)"),
    ("kernels/random_bounds.py", "if left < ends[1, b] < right:", "if False:"),
    ("kernels/random_bounds.py", "total / (high - low)", "total"),
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
    ("agent/ledger.py", "if earlier != reward:", "if False:"),
    ("agent/ledger.py", "self.pending.pop(id)", "self.pending[id]"),
    ("agent/ledger.py", "popitem(last=False)", "popitem(last=True)"),
    ("agent/ledger.py", "if not entry.provisional:", "if True:"),
    ("agent/running_sums.py", "!= row", ">= 0"),
    ("agent/agent_state.py", "self.sums.revise(", "(lambda *_: None)("),
    ("agent/agent_state.py", "member.decisions - member.best", "member.decisions"),
    (
        "policies/odds.py",
        "np.bincount(event, hit, sizes.size) / ties",
        "np.bincount(event, hit, sizes.size)",
    ),
    ("agent/decider.py", "self.rng.bit_generator.state = state", "pass"),
    ("agent/decider.py", "state.roster.unmeet(size, num_nodes)", "pass"),
    ("agent/journal_file.py", "os.ftruncate(self._file, self._size)", "pass"),
    ("agent/journal_replay.py", "if number < state.num_events:", "if False:"),
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
    ("kernels/summation.py", "xy[task, i] += x[i] * reward", "xy[task, i] += reward"),
    ("kernels/small_matrices.py", "sqrt(1.0 + above[i])", "sqrt(above[i])"),
    (
        "kernels/small_matrices.py",
        "left -= lower[i, k] * out[k, j]",
        "left += lower[i, k] * out[k, j]",
    ),
    ("kernels/inverse_wishart.py", "(freedom - i) / 2", "freedom / 2"),
    ("kernels/inverse_wishart.py", "lower[i, k] * inverse[j, k]", "lower[i, k] * inverse[k, j]"),
    ("kernels/width_conditionals.py", "rng.standard_gamma(1.0)", "rng.standard_gamma(0.5)"),
    ("kernels/width_conditionals.py", "(shared + 1) / 2)", "(shared + 2) / 2)"),
    ("kernels/width_conditionals.py", "sqrt(var / mu.size)", "sqrt(var)"),
    ("kernels/width_conditionals.py", "told + log_factor - power", "told - power"),
    ("kernels/width_conditionals.py", "rng.standard_gamma(dim / 2)", "rng.standard_gamma(dim)"),
    ("kernels/width_conditionals.py", "part**beyond * exp(", "exp("),
    ("kernels/width_conditionals.py", "if found < 0.0:", "if found > 0.0:"),
    ("kernels/width_draws.py", "(hyper_mean[k] + numbers[CENTRE])", "hyper_mean[k]"),
    ("kernels/width_draws.py", "own = above[i] / (1.0 + above[i])", "own = above[i]"),
    ("kernels/width_draws.py", "total = step[s, i] - white[i]", "total = step[s, i]"),
    ("kernels/width_draws.py", "straight -= square[j, k] * factor[k]", "straight -= square[j, k]"),
    ("kernels/width_draws.py", "left -= xx[s, i, k] * mu[k]", "left += xx[s, i, k] * mu[k]"),
    ("kernels/width_draws.py", "apart += NU * inverse[i, j] ** 2 * cov[j, j]", "apart = NU"),
    ("kernels/width_draws.py", "(fitted - 2 * xy[s, i])", "(fitted - xy[s, i])"),
    ("kernels/width_draws.py", "/ (NU * precision + numbers[SCALE])", "/ (NU * precision)"),
    ("kernels/width_draws.py", "2 * NU * known", "NU * known"),
    ("kernels/width_draws.py", "NU + dim - 1 + tasks", "NU + dim + tasks"),
    ("kernels/arm_width_draws.py", "sqrt(shrunk * noise_var)", "sqrt(shrunk)"),
    ("kernels/arm_width_draws.py", "precision += counts[s] / inner", "precision += counts[s]"),
    ("kernels/arm_width_draws.py", "(NU + seen) / 2", "(NU + tasks) / 2"),
    ("kernels/arm_width_draws.py", "cov[arm] *= factor**2", "cov[arm] *= factor"),
    ("kernels/arm_width_draws.py", "(scatter / 2 + NU * known)", "(scatter + NU * known)"),
    ("beliefs/standard_units.py", "slope = mean[:, c] / size[c]", "slope = mean[:, c]"),
    ("beliefs/standard_units.py", "size - slope**2 * size[c]", "size - slope**2"),
    ("beliefs/standard_units.py", "self._plus_slope(1.0)", "self._plus_slope(-1.0)"),
    ("beliefs/standard_units.py", "np.argmax(tied", "np.argmin(tied"),
    ("beliefs/standard_units.py", "sums.xy @ turn.T / self.reward", "sums.xy @ turn.T"),
    ("beliefs/width_refit.py", "NOISE]).mean() / 2)", "NOISE]).mean())"),
    ("beliefs/width_refit.py", "float(units.reward * self._others", "float(self._others"),
    ("beliefs/width_refit.py", "vectors * np.exp(values) @", "vectors * values @"),
    ("beliefs/width_refit.py", "np.argsort(-n[tasks]", "np.argsort(n[tasks]"),
    ("beliefs/width_refit.py", "self._cov + units.cov_in", "units.cov_in"),
    ("beliefs/width_refit.py", "except ValueError:", "except KeyError:"),
    ("beliefs/review.py", "(nodes < self.folded)", "(nodes <= self.folded)"),
    ("beliefs/growing_sums.py", "self._moved <= task <", "self._moved < task <"),
    ("beliefs/adaptive_belief.py", "self.check_leaves(nodes)  #", "pass  #"),
    ("beliefs/adaptive_belief.py", "told = self._review.knows(nodes)", "told = nodes >= 0"),
    (
        "beliefs/adaptive_belief.py",
        "and node < review.folded:\n            review.belief.observe_one",
        "and node <= review.folded:\n            review.belief.observe_one",
    ),
    (
        "beliefs/adaptive_belief.py",
        "and node < review.folded:\n            review.belief.revise",
        "and node <= review.folded:\n            review.belief.revise",
    ),
    (
        "beliefs/adaptive_belief.py",
        "min(self._review.folded, self.num_nodes)",
        "self._review.folded",
    ),
    ("beliefs/adaptive_belief.py", "np.ceil(growth * count)", "growth * count"),
    ("beliefs/adaptive_belief.py", "self.due.copy()", "self.due"),
    ("beliefs/evidence.py", "populations] += other.parts", "populations] = other.parts"),
    ("beliefs/nodes.py", "twin.forget(twin.forest.root)", "twin.forest.root"),
    (
        "algebra.py",
        "factor @ (vectors / np.sqrt(1.0 + values)",
        "factor @ (vectors / (1.0 + values)",
    ),
    ("beliefs/nodes.py", "levels[tree[parent[tasks]]] + 1", "levels[tree[parent[tasks]]]"),
    ("beliefs/task_sums.py", "new_reward**2 - old_reward**2", "(new_reward - old_reward) ** 2"),
    ("fitting/expectation.py", "u**2 - seen + seen**2 * cov", "u**2 - seen"),
    ("fitting/expectation.py", "return twice / 2", "return twice"),
    ("fitting/weak_prior.py", "(1 / cov - 1)", "(1 / cov + 1)"),
    ("learning/log_worlds.py", "self.noise_std[events.run] * luck", "luck"),
    ("learning/log_worlds.py", "luck, best - value", "luck, value - best"),
    ("learning/players.py", "np.delete(np.arange(len(self.sums.n)), self.own)", "self.own"),
    ("learning/players.py", "nodes[:, acting].ravel()", "nodes[:, -self.num_tasks :].ravel()"),
    ("learning/players.py", "if self.learns:", "if True:"),
    ("learning/promises.py", 'method="weibull"', 'method="linear"'),
    ("learning/promises.py", "ours - ratio * theirs", "ours - theirs"),
    ("learning/start_trial.py", "np.outer(factor, factor)", "factor"),
    ("beliefs/first_widths.py", "square / count if", "square if"),
    ("beliefs/first_widths.py", "log_var + square / noise_var", "square / noise_var"),
    ("beliefs/first_widths.py", "ratio**2 * one]", "ratio * one]"),
    ("beliefs/hierarchy_draws.py", "width**2 * one", "width * one"),
    ("beliefs/hierarchy_draws.py", "noise * units.reward", "noise"),
    ("learning/outliers.py", "cov + prior.task_cov", "cov"),
    ("learning/outliers.py", "adjusted <= FALSE_ALARMS", "p_value <= FALSE_ALARMS"),
    ("learning/shrinkage.py", "weight=gains.mean(1)", "weight=1 - gains.mean(1)"),
    ("evaluation/estimators.py", "(n * mean) ** 2 / np.where", "n * mean**2 / np.where"),
    ("evaluation/estimators.py", "np.where(some, -value * scale, 0.0)", "np.zeros_like(value)"),
    ("evaluation/estimators.py", "one[part] - one[REWARD]", "one[part] + one[REWARD]"),
    ("evaluation/estimators.py", "np.nan, size - 1)", "np.nan, size)"),
    ("evaluation/replay.py", "rows.tasks[agreed], features", "rows.tasks[agreed][::-1], features"),
    ("simulation/study.py", "own - ratio * others", "own - others"),
    ("simulation/study.py", "values.std(ddof=1) / np.sqrt(values.size)", "values.std(ddof=1)"),
]


def _mirrored(name: str) -> list[str]:
    """The tests of a file's folder, or of a root module: they are the likeliest to notice."""
    folder = Path(name).parent
    return [f"tests/test_{Path(name).stem}.py" if folder == Path() else f"tests/{folder}"]


def _touch_users(path: Path) -> None:
    """Let kernels compile again that call functions of this file."""
    for user in path.parent.glob("*.py"):
        if f".{path.stem} import" in user.read_text():
            user.touch()


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
            _touch_users(path)
            killed = any(_fails(copy, tests) for tests in (_mirrored(name), ["tests"]))
            path.write_text(text)
            _touch_users(path)
            print(f"{number:3}/{len(chosen)}  {'killed' if killed else 'ALIVE '}  {name}: {new!r}")
            if not killed:
                alive.append((name, new))
    sys.exit(f"alive: {alive}" if alive else 0)


if __name__ == "__main__":
    main()
