"""What sharing would save, in simulated worlds."""

import numpy as np
import pytest
from support.learn_logs import FORMS, drawn, sums_of
from support.oracle import full

import hierbandits as hb
from hierbandits.environments import HierarchicalBandit, SampledActions
from hierbandits.fitting import fit_prior
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.savings import COMPARED, Saving, hierarchy_of_worlds
from hierbandits.logs import Survey
from hierbandits.simulation.schedules import Federated
from hierbandits.simulation.study import Outcome, Study


@pytest.mark.parametrize(("armed", "populations"), FORMS)
def test_savings_are_those_of_a_direct_simulation(armed, populations):
    rows = drawn(19, armed=armed, populations=populations, tasks=14, events=12)
    _, report = hb.learn_prior(
        rows.frame(), **rows.arguments, held_out=0, runs=12, seed=4, progress=False
    )
    kind = report.structure.best
    fit = fit_prior(sums_of(rows), population=rows.population, structure=kind)
    comparison = Comparison.of(sums_of(rows), rows.population)
    savings, worlds = report.savings, report.savings.hierarchy
    (t, q), noise = comparison.typical["hierarchical"], fit.prior.noise_std
    size = np.ones(3) if armed else np.sqrt((rows.features**2).mean(0))
    mean, hyper_cov = fit.prior.hyper_mean, full(fit.prior.hyper_cov)
    if populations == 1:
        mean = np.full(3, rows.rewards.mean() if armed else 0.0)
        hyper_cov = np.diag((q * noise / size) ** 2)
    std = fit.task_widths.std
    std = np.where(fit.task_widths.maybe_zero, np.minimum(std, t * noise / size), std)
    np.testing.assert_allclose(worlds.hyper_mean, mean, rtol=1e-9)
    np.testing.assert_allclose(full(worlds.hyper_cov), hyper_cov, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(full(worlds.task_cov), np.diag(std**2), rtol=1e-9, atol=1e-12)
    assert worlds.noise_std == pytest.approx(noise)
    num_tasks = int(np.median(np.bincount(rows.population)))
    num_rounds = int(np.median(np.bincount(rows.task)))
    assert (savings.num_tasks, savings.num_rounds, savings.runs) == (num_tasks, num_rounds, 12)
    sample = Survey.of(rows.log(), seed=4).features
    actions = None if armed else SampledActions(sample, 10)
    world = HierarchicalBandit(hierarchy=worlds, num_tasks=num_tasks, actions=actions)
    study = hb.simulate(world, COMPARED, Federated(), 12, 4, num_interactions=num_rounds)
    ours = study.outcomes["HierTS"].total
    for name in COMPARED:
        assert savings.regret(name) == study.mean(name)
    for saving in savings.savings:
        theirs = study.outcomes[saving.over].total
        gap = theirs - ours
        assert saving.difference == pytest.approx(gap.mean())
        assert saving.difference_error == pytest.approx(gap.std(ddof=1) / np.sqrt(12))
        assert saving.percent == pytest.approx(100 * gap.mean() / theirs.mean())


def test_the_error_of_the_percentage_is_that_of_the_jackknife():
    rng = np.random.default_rng(0)
    theirs = rng.gamma(4.0, 1.0, 400)
    ours = 0.3 * theirs + rng.gamma(2.0, 0.2, 400)
    none = np.zeros(400)
    outcomes = {
        name: Outcome(total[:, None], total[:, None], none, none, none[:, None, None], 0.0)
        for name, total in (("HierTS", ours), ("TS", theirs))
    }
    saving = Saving.of(Study(np.array([1]), outcomes), "TS")
    left = [np.delete(ours, i).mean() / np.delete(theirs, i).mean() for i in range(400)]
    assert saving.percent == pytest.approx(100 * (1 - ours.mean() / theirs.mean()))
    assert saving.percent_error == pytest.approx(100 * np.sqrt(399 * np.var(left)), rel=0.02)


@pytest.mark.parametrize("armed", [True, False])
def test_worlds_of_equal_tasks_are_not_as_wide_as_the_fit_has_to_guess(armed):
    rows = drawn(21, armed=armed, tasks=60, events=30, d=4, task_std=0.0, mean=1.0)
    fit = fit_prior(sums_of(rows), population=rows.population)
    comparison = Comparison.of(sums_of(rows), rows.population)
    assert fit.task_widths.maybe_zero.any()
    narrow = np.sqrt(np.diagonal(full(hierarchy_of_worlds(fit, comparison, False).task_cov)))
    size = np.ones(4) if armed else np.sqrt((rows.features**2).mean(0))
    typical = comparison.typical["hierarchical"][0] * fit.prior.noise_std / size
    at = fit.task_widths.maybe_zero
    np.testing.assert_allclose(narrow[at], np.minimum(typical, fit.task_widths.std)[at], 1e-9)
    np.testing.assert_allclose(narrow[~at], fit.task_widths.std[~at], rtol=1e-9)
    assert (narrow[at] < 0.8 * fit.task_widths.std[at]).any()
