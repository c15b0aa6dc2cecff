"""`python -m bench.coverage`: how often the intervals of `hb.evaluate` hold the truth.

Every run draws a world and a log, evaluates, and compares with the truth.  The table has, for each
estimate, its bias and standard deviation, the mean error that it claims, and the share of 95 %
intervals that hold the truth, overall and task by task.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

import hierbandits as hb
from hierbandits.evaluation.targets import FrozenTarget, targets_of
from hierbandits.evaluation.training import Training
from hierbandits.logs import GroupSums, Split, Survey
from hierbandits.policies.ucb_rule import ucb_width

Array = NDArray[np.float64]
METHODS = ("ips", "snips", "dm", "dr")


@dataclass(frozen=True, slots=True)
class Setting:
    """A world and a way to log it."""

    name: str
    rows: int
    tasks: int = 10
    arms: int = 4
    skew: float = 0.0  # of the log's preferences among arms; 0 is uniform
    hidden: float = 0.0  # what a context that only the log's policy saw adds to the reward
    policy: str = "arm:0"
    given: bool = False  # whether the true prior is given, or fitted


SETTINGS = (
    Setting("uniform log", 2000),
    Setting("skewed log", 2000, skew=1.0),
    Setting("skewed log, few rows", 200, skew=1.0),
    Setting("skewed log, true prior", 2000, skew=1.0, given=True),
    Setting("many arms", 5000, arms=20, skew=1.0),
    Setting("HierOPO, skewed log", 2000, skew=1.0, policy="HierOPO"),
    Setting("frozen HierTS, skewed log", 2000, skew=1.0, policy="frozen:HierTS"),
    Setting("wrong model: hidden context", 2000, skew=1.0, hidden=1.0),
)


@dataclass(frozen=True, slots=True)
class Logged:
    """A log and what is true of it."""

    log: hb.Log
    prior: hb.GaussianHierarchy
    values: Array  # mean rewards, (tasks, arms)
    mix: Array  # how likely each task is, (tasks,)


def draw(setting: Setting, rng: Generator) -> Logged:
    """Draw theta_s ~ N(mu, 0.3²) and rewards of noise 1; the log's preferences vary by task."""
    tasks, arms = setting.tasks, setting.arms
    prior = hb.GaussianHierarchy.armed(arms, hyper_std=0.5, task_std=0.3, noise_std=1.0)
    values = rng.normal(0, 0.5, arms) + rng.normal(0, 0.3, (tasks, arms))
    mix = rng.dirichlet(np.full(tasks, 5.0))
    task = rng.choice(tasks, setting.rows, p=mix)
    seen = rng.random(setting.rows) < 0.5  # the hidden context
    taste = setting.skew * rng.normal(size=(2, tasks, arms))
    taste[1, :, 0] += 2.0 * (setting.hidden > 0)  # where it holds, arm 0 is preferred
    odds = np.exp(taste[seen.astype(int), task])
    odds = odds / odds.sum(axis=1, keepdims=True)
    odds = 0.9 * odds + 0.1 / arms
    arm = (odds.cumsum(axis=1) < rng.random((setting.rows, 1))).sum(axis=1)
    each = np.arange(setting.rows)
    reward = values[task, arm] + setting.hidden * (seen - 0.5) + rng.normal(size=setting.rows)
    frame = pl.DataFrame({"task": task, "arm": arm, "reward": reward, "p": odds[each, arm]})
    columns = hb.Columns(task="task", arm="arm", reward="reward", propensity="p")
    return Logged(hb.Log.read(frame, columns, arms=range(arms)), prior, values, mix)


def shares(setting: Setting, logged: Logged, prior: hb.GaussianHierarchy | None) -> Array:
    """The policy's probabilities, averaged over the folds it was trained on, (tasks, arms)."""
    out = np.zeros((setting.tasks, setting.arms))
    if setting.policy == "arm:0":
        out[:, 0] = 1.0
        return out
    survey = Survey.of(logged.log)
    split = Split.for_evaluation(survey, None, folds=5, seed=0)
    sums = GroupSums(split.num_groups)
    for batch in logged.log.batches():
        sums.add(batch, split.groups(batch.numbers))
    (target,) = targets_of(setting.policy, alpha=ucb_width(0.05), draws=1000, seed=0)
    assert isinstance(target, FrozenTarget)
    everyone = np.arange(survey.num_tasks)
    for group in split.judged:
        training = Training.of(survey, group, sums.of(split.training(group)), prior, None)
        policy = target.freeze(survey, training)
        mine, all_ = sums.of([group]).n, sums.total().n
        given = policy(everyone, np.ones((survey.num_tasks, setting.arms), np.bool_))
        out[np.array(survey.tasks, int)] += (mine / all_)[:, None] * given
    return out


def runs(setting: Setting, count: int, seed: int) -> Iterator[dict[str, tuple[float, ...]]]:
    """Estimate, truth, claimed error and coverage of each method, run after run.

    Coverage is whether the interval holds the truth, and the share of tasks whose interval does.
    """
    for run in range(count):
        rng = np.random.default_rng([seed, run])
        logged = draw(setting, rng)
        prior = logged.prior if setting.given else None
        evaluation = hb.evaluate(logged.log, setting.policy, METHODS, prior=prior)
        names = np.array(evaluation.tasks, int)
        true = (shares(setting, logged, prior) * logged.values).sum(axis=1)
        num_rows = evaluation.by_task["logged", "logged"].rows
        truths = dict.fromkeys(METHODS, float(logged.mix @ true))
        truths["dm"] = float(num_rows @ true[names] / num_rows.sum())  # of these very rows
        out: dict[str, tuple[float, ...]] = {}
        for method in METHODS:
            overall = evaluation[setting.policy, method]
            each = evaluation.by_task[setting.policy, method].estimates
            known = np.isfinite(each.low)
            inside = (each.low <= true[names]) & (true[names] <= each.high)
            share = float(inside[known].mean()) if known.any() else float("nan")
            truth = truths[method]
            held = float(overall.low <= truth <= overall.high)
            out[method] = (overall.value, truth, overall.error, held, share)
        yield out


def main() -> None:
    """Print a table of all settings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("--setting", choices=names, help="one alone")
    options = parser.parse_args()
    print(f"{options.runs} runs of each setting, seed {options.seed}")
    print("| setting | method | bias | its error | std | claimed | coverage | of tasks |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    chosen = [setting for setting in SETTINGS if options.setting in (None, setting.name)]
    for setting in chosen:
        every = list(runs(setting, options.runs, options.seed))
        for method in METHODS:
            table = np.array([run[method] for run in every])
            off = table[:, 0] - table[:, 1]
            print(
                f"| {setting.name} | {method.upper()} | {off.mean():+.4f} "
                f"| {off.std(ddof=1) / np.sqrt(len(off)):.4f} | {off.std(ddof=1):.4f} "
                f"| {table[:, 2].mean():.4f} | {100 * table[:, 3].mean():.1f} % "
                f"| {100 * np.nanmean(table[:, 4]):.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
