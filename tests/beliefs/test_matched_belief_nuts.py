"""Beliefs beside posteriors that NUTS drew from: clicks and counts, arms and features.

    PYTHONPATH=tests python tests/beliefs/test_matched_belief_nuts.py

prints the table of docs/models.md.
"""

import numpy as np
import pytest
from support.reference_cases import CASES, TASKS, reference_case, reference_posterior

import hierbandits as hb

WORDS = {"bernoulli": "clicks", "poisson": "counts"}


def _one_pass(case):
    belief = hb.MatchedBelief(case.model, TASKS)
    belief.observe(case.tasks, case.features, case.rewards)
    return belief, range(TASKS)


def _agent(case):
    """What an agent knows that got the rewards one by one."""
    agent = hb.Agent(case.model, seed=0)
    for task, x, reward in zip(case.tasks.tolist(), case.features, case.rewards, strict=True):
        agent.learn([task], [x], [reward])
    return agent.belief, [agent.node(task) for task in range(TASKS)]


def _refit(case):
    belief, nodes = _one_pass(case)
    assert belief.refit().is_converged
    return belief, nodes


def _errors(learned, exact):
    """Errors of means, in standard deviations, and of widths, as ratios; (1 + tasks, d) each."""
    belief, nodes = learned
    known = [belief.hyper(), *(belief.task(node) for node in nodes)]
    means, stds = (np.array([getattr(one, part) for one in known]) for part in ("mean", "std"))
    return np.abs(means - exact.mean) / exact.std, stds / exact.std - 1


def _positives(case):
    """The positives that tell of a coordinate; arms without correlations have their own each."""
    hits = case.rewards > 0
    if case.form != "arms":
        return int(hits.sum())
    return int(np.bincount(case.features[hits], minlength=3).min())


@pytest.mark.parametrize(("family", "form", "rate"), CASES)
def test_what_beliefs_know_is_what_nuts_finds(family, form, rate):
    case = reference_case(family, form, rate)
    exact = reference_posterior(case)
    spare = 3 * np.array([exact.mean_error, exact.std_error])
    means, widths = _errors(_refit(case), exact)
    assert means.max() < 0.03 + spare[0]
    assert np.abs(widths).max() < (0.02 if _positives(case) >= 20 else 0.08) + spare[1]
    if rate >= 0.06:
        means, widths = _errors(_agent(case), exact)
        assert means.max() < 0.1
        assert np.abs(widths).max() < 0.05


def test_the_reference_is_better_known_than_what_it_judges():
    for parts in CASES:
        exact = reference_posterior(reference_case(*parts))
        assert exact.mean_error < 0.006
        assert exact.std_error < 0.003


def _worst(errors):
    """The largest errors of the hyper-parameter and of tasks, as cells of a table."""
    means, widths = errors
    cells = []
    for rows in (slice(1), slice(1, None)):
        width = widths[rows].ravel()
        far = width[np.argmax(np.abs(width))]
        cells.append(f"{means[rows].max():.3f}, {100 * far:+.1f} %")
    return cells


def _print_table():
    parts = [
        f"{name}: {what}" for name in ("one pass", "agent", "refit") for what in ("mu", "tasks")
    ]
    print(f"| rewards | base rate | positives | NUTS ± | {' | '.join(parts)} |")
    print("|---" * (4 + len(parts)) + "|")
    for family, form, rate in CASES:
        case = reference_case(family, form, rate)
        exact = reference_posterior(case)
        cells = [f"{WORDS[family]}, {form}", f"{100 * rate:g} %", f"{(case.rewards > 0).sum()}"]
        cells.append(f"{exact.mean_error:.3f}, {100 * exact.std_error:.1f} %")
        for learn in (_one_pass, _agent, _refit):
            cells += _worst(_errors(learn(case), exact))
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    _print_table()
