"""What shards tell of their tasks adds up to what one belief knows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exact_messages import exact_hyper, standard_error
from support.oracle import full
from support.states import largest_mean
from support.worlds import FORMS, assert_close, random_hierarchy, worlds

from hierbandits import (
    Belief,
    GaussianHierarchy,
    TaskSums,
    merge_contributions,
)


@settings(max_examples=60)
@given(worlds(levels=st.integers(2, 2)))
def test_merged_shards_equal_one_belief(world):
    whole = world.observed()
    m = world.shape[0]
    for population in range(world.num_populations):
        prior = world.prior.with_levels(world.hyper_means[population], world.prior.covs)
        mine = np.arange(population * m, (population + 1) * m)
        shards = []
        for members in (mine[: m // 2], mine[m // 2 :]):
            if members.size == 0:
                continue
            shard = world.belief()  # a machine that saw its own tasks alone
            seen = np.isin(world.tasks, members)
            shard.observe(
                world.tasks[seen],
                world.features[seen],
                world.rewards[seen],
                world.noise_std[seen],
            )
            shards.append(shard.contribution(members))
        merged, hyper = merge_contributions(prior, shards), whole.hyper(population)
        assert_close(merged.mean, hyper.mean, scale=largest_mean(whole), rtol=1e-8)
        assert_close(merged.cov, hyper.cov, rtol=1e-8)
        again = merge_contributions(
            prior, reversed(shards)
        )  # commutative, and an old one can be replaced
        np.testing.assert_allclose(again.mean, merged.mean, rtol=1e-12)


def test_a_contribution_is_of_siblings():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.3)
    belief = Belief(prior, 2, 2)
    with pytest.raises(ValueError, match="children of one node"):
        belief.contribution([0, 2])
    with pytest.raises(ValueError, match="children of one node"):
        belief.contribution(belief.roots[:1])


@pytest.mark.parametrize("form", FORMS)
def test_contributions_of_very_wide_tasks_still_merge(form):
    """Little remains of what wide tasks tell, but never less than nothing."""
    rng = np.random.default_rng(8)
    prior = random_hierarchy(rng, form, 3, (1e-3, 1e3), np.zeros(3), 1.0)
    features = rng.integers(0, 3, 4) if prior.is_armed else rng.standard_normal((4, 3))
    belief = Belief(prior, 4)
    belief.observe(np.arange(4), features, rng.standard_normal(4))
    merged = merge_contributions(prior, [belief.contribution([0, 1]), belief.contribution([2, 3])])
    assert np.isfinite(merged.mean).all()
    values = np.linalg.eigvalsh(merged.cov)
    assert values[0] > 0
    assert values[-1] <= np.linalg.eigvalsh(full(prior.hyper_cov))[-1] * (1 + 1e-9)


@pytest.mark.parametrize("task_std", [1e-2, 1e-3, 1e-6, 1e-7, 1e-9])
@pytest.mark.parametrize("form", ["armed", "linear"])
def test_a_contribution_has_digits_enough_or_is_refused(form, task_std):
    rng = np.random.default_rng(3)
    prior = random_hierarchy(rng, form, 3, (1.0, task_std), np.array([0.3, -0.2, 0.1]), 1.0)
    sums, belief = TaskSums.zeros(4, 3, armed=prior.is_armed), Belief(prior, 4)
    features = rng.integers(0, 3, 80) if prior.is_armed else rng.standard_normal((80, 3))
    events = rng.integers(0, 4, 80), features, rng.standard_normal(80)
    sums.add(*events)
    belief.observe(*events)
    if task_std < 1e-4:
        with pytest.raises(ValueError, match=r"tasks must have a task_cov that is wider.*TaskSums"):
            belief.contribution([0, 1, 2, 3])
    else:
        merged = merge_contributions(prior, [belief.contribution([0, 1, 2, 3])])
        assert standard_error(merged, exact_hyper(prior, sums)) < 1e-6


def test_what_nobody_has_learned_is_refused_too_where_it_cannot_be_told_from_little():
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1e-9, noise_std=1.0)
    belief = Belief(prior, 1)
    belief.observe([0], [1], [0.0])  # no number of the state changes, and yet mu is narrower
    with pytest.raises(ValueError, match="too few digits"):
        belief.contribution([0])


def test_a_part_in_common_keeps_what_arms_have_told():
    """Its state has what an arm's rewards say, and not what is left of its width."""
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=1e-9, noise_std=0.7, common_std=1e-8)
    sums, belief = TaskSums.zeros(2, 2, armed=True), Belief(prior, 2)
    events = [0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [0.3, -0.2, 1.0, 0.4, 0.9]
    sums.add(*events)
    belief.observe(*events)
    merged = merge_contributions(prior, [belief.contribution([0, 1])])
    assert standard_error(merged, exact_hyper(prior, sums)) < 1e-12
