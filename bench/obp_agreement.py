"""`python -m bench.obp_agreement`: our estimates beside Open Bandit Pipeline's, same numbers.

Needs obp (0.5.7 was used; `pip install --no-deps --ignore-requires-python obp`) and what its
estimators import: pandas, scikit-learn, matplotlib, seaborn, tqdm.  Both are given the same
weights and, for DM and DR, the same cross-fitted reward model.  Exits with 1 if they differ by
more than rounding.
"""

import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

import hierbandits as hb
from bench.coverage import Setting, draw
from hierbandits.evaluation.targets import FrozenTarget, targets_of
from hierbandits.evaluation.training import Training
from hierbandits.logs import GroupSums, Split, Survey
from hierbandits.policies.ucb_rule import ucb_width

POLICIES = ("HierOPO", "greedy", "frozen:HierTS", "uniform", "arm:1")
LARGEST = 1e-12  # difference allowed, relative
CLASSES = {
    "ips": "InverseProbabilityWeighting",
    "snips": "SelfNormalizedInverseProbabilityWeighting",
    "dm": "DirectMethod",
    "dr": "DoublyRobust",
}


def estimators() -> Any:
    """obp's estimators alone: its packages would also import neural policies, and so torch."""
    spec = find_spec("obp")
    assert spec is not None, "obp is not installed"
    folder = next(iter(spec.submodule_search_locations or ()))
    for name, path in (("obp", folder), ("obp.ope", f"{folder}/ope")):
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [path]
    if find_spec("torch") is None:  # named in annotations of what is not called here
        torch = ModuleType("torch")
        torch.__dict__.update(tensor=object, Tensor=object)
        sys.modules["torch"] = torch
    return import_module("obp.ope.estimators")


def given(log: hb.Log, policy: str) -> dict[str, Any]:
    """What obp takes: rewards, arms, propensities, and each row's probabilities and model."""
    survey = Survey.of(log)
    split = Split.for_evaluation(survey, None, folds=5, seed=0)
    sums = GroupSums(split.num_groups)
    for batch in log.batches():
        sums.add(batch, split.groups(batch.numbers))
    (target,) = targets_of(policy, alpha=ucb_width(0.05), draws=1000, seed=0)
    assert isinstance(target, FrozenTarget)
    (rows,) = survey.rows()
    groups = split.groups(rows.numbers)
    probabilities = np.empty((rows.tasks.size, len(survey.arms)))
    model = np.empty_like(probabilities)
    for group in split.judged:
        training = Training.of(survey, group, sums.of(split.training(group)), None, None)
        mine = groups == group
        everything = np.ones((int(mine.sum()), len(survey.arms)), np.bool_)
        probabilities[mine] = target.freeze(survey, training)(rows.tasks[mine], everything)
        model[mine] = training.model().means[rows.tasks[mine]]
    return {
        "reward": rows.rewards, "action": rows.arms, "pscore": rows.propensities,
        "action_dist": probabilities[:, :, None],
        "estimated_rewards_by_reg_model": model[:, :, None],
    }  # fmt: skip


def main() -> None:
    """Print both, and fail if they differ."""
    theirs, worst = estimators(), 0.0
    print(f"obp {version('obp')}, numpy {np.__version__}, hierbandits {hb.__version__}")
    print(
        "| setting | policy | method | hierbandits | obp | difference | error | from obp's rows |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for skew in (0.0, 1.0):
        setting = Setting(f"skew {skew:g}", 3000, skew=skew)
        log = draw(setting, np.random.default_rng(7)).log
        for policy in POLICIES:
            evaluation, inputs = hb.evaluate(log, policy), given(log, policy)
            for method, name in CLASSES.items():
                estimator = getattr(theirs, name)()
                needs = dict(inputs)
                if method in ("ips", "snips"):
                    del needs["estimated_rewards_by_reg_model"]
                if method == "dm":
                    needs = {k: v for k, v in needs.items() if k in DM_TAKES}
                value = float(estimator.estimate_policy_value(**needs))
                ours = evaluation[policy, method]
                gap = abs(ours.value - value) / max(abs(value), 1e-3)
                line = f"{ours.value:.12f} | {value:.12f} | {gap:.1e}"
                error = "– | –"
                if method in ("ips", "dr"):
                    each = estimator._estimate_round_rewards(**needs)
                    theirs_error = each.std(ddof=1) / np.sqrt(each.size)
                    error = f"{ours.error:.10f} | {theirs_error:.10f}"
                    gap = max(gap, abs(ours.error / theirs_error - 1))
                print(f"| {setting.name} | {policy} | {method.upper()} | {line} | {error} |")
                worst = max(worst, gap)
    print(f"largest relative difference {worst:.1e}")
    sys.exit(worst > LARGEST)


DM_TAKES = ("action_dist", "estimated_rewards_by_reg_model")

if __name__ == "__main__":
    main()
