"""How alike tasks are, in words: judged by the worlds that the logs are from."""

import numpy as np
import polars as pl
import pytest
from support.learn_logs import drawn, sums_of

from hierbandits import Belief, learn_prior
from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.fitting import fit_prior
from hierbandits.learning.sentence import Claim
from hierbandits.learning.similarity_verdict import on_similarity
from hierbandits.learning.task_similarity import Similarity

QUICK = {"structure": "diagonal", "held_out": 0, "runs": 0, "progress": False}


def similar(rows, **more):
    return learn_prior(rows.frame(), **rows.arguments, **QUICK, **more)[1].similarity


def said(similarity):
    return {sentence.claim: sentence for sentence in on_similarity(similarity)}


def pure_noise(rows_of_a_task, **more):
    """Equal tasks and arms, and so many rewards of every arm of a task."""
    cells = np.tile(np.arange(120), rows_of_a_task)
    frame = pl.DataFrame(
        {
            "task": cells // 2,
            "arm": cells % 2,
            "reward": np.random.default_rng(3).normal(size=cells.size),
        }
    )
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    return learn_prior(frame, **columns, **QUICK, **more)[1].similarity


def test_noise_is_not_told_from_tasks_where_no_reward_repeats():
    alone = pure_noise(1)
    assert set(said(alone)) == {Claim.NOISE_NOT_TOLD}
    for untold in (alone.task_std, alone.share, alone.rewards_to_equal, alone.overall_share):
        assert np.isnan(untold).all()
    assert np.isnan([alone.noise_std, alone.noise_low, *alone.share_ends]).all()
    assert np.isfinite(alone.mean).all()
    assert alone.repeats == 0

    twice = pure_noise(2)
    assert twice.repeats == 120
    assert Claim.NOISE_NOT_TOLD not in said(twice)
    given = pure_noise(1, noise_std=1.0)  # then what is more than noise lies between tasks
    assert Claim.MAYBE_NO_SHARE in said(given)
    assert given.share_ends[1] < 0.4


@pytest.mark.parametrize(("repeated", "told"), [(2, False), (100, True)])
def test_few_repeated_rewards_hardly_tell_noise(repeated, told):
    """So many of the 60 tasks have a second reward of an arm; tasks differ by as much as noise."""
    rng = np.random.default_rng(1)
    task = np.append(np.arange(60), np.arange(repeated) % 60)
    reward = rng.normal(size=60)[task] + rng.normal(size=task.size)
    frame = pl.DataFrame({"task": task, "arm": task % 2, "reward": reward})
    columns = {"task": "task", "arm": "arm", "reward": "reward"}
    similarity = learn_prior(frame, **columns, **QUICK)[1].similarity
    assert (Claim.NOISE_NOT_TOLD in said(similarity)) != told
    if told:
        assert similarity.noise_low < 1.0 < similarity.noise_high
    else:
        assert said(similarity)[Claim.NOISE_NOT_TOLD].text.startswith("Hardly a task has two")


def test_features_that_are_always_zero_are_said_not_estimated():
    rows = drawn(2, armed=False, tasks=10, events=30)
    assert Claim.NOT_PLAYED not in said(similar(rows))
    rows.features[:, 1] = 0.0
    rows.features[:, 2] *= rows.task == 4  # and one has values in one task alone
    sentences = said(similar(rows))
    assert sentences[Claim.NOT_PLAYED].about == ("x1",)
    assert sentences[Claim.NOT_PLAYED].text.startswith("These features are always zero: x1.")
    assert sentences[Claim.WIDTH_NOT_TOLD].about == ("x2",)


def test_features_that_no_task_can_fit_do_not_tell_noise():
    rng = np.random.default_rng(0)
    for rows, claimed in ((2, True), (4, False)):
        task = np.repeat(np.arange(60), rows)
        x = rng.normal(size=(task.size, 2))
        frame = pl.DataFrame({"t": task, "a": x[:, 0], "b": x[:, 1], "y": rng.normal(size=len(x))})
        report = learn_prior(frame, task="t", features=["a", "b"], reward="y", **QUICK)[1]
        assert (Claim.NOISE_NOT_TOLD in report.claims) == claimed


def test_tasks_and_populations_are_not_told_apart_if_each_has_one():
    alone = drawn(1, armed=True, tasks=8, events=30, populations=8)
    assert said(similar(alone)).keys() == {Claim.POPULATIONS_NOT_TOLD}
    assert np.isnan(similar(alone).hyper_std).all()
    together = drawn(1, armed=True, tasks=16, events=30, populations=4)
    assert Claim.POPULATIONS_NOT_TOLD not in said(similar(together))


def test_arms_that_nobody_or_one_task_played_are_said_not_estimated():
    rows = drawn(2, armed=True, tasks=10, events=40, d=4)
    frame = rows.frame().filter(
        (pl.col("promo") != "a3") & ((pl.col("promo") != "a1") | (pl.col("store") == "t4"))
    )
    similarity = learn_prior(frame, **rows.arguments, **QUICK)[1].similarity
    sentences = said(similarity)
    assert sentences[Claim.NOT_PLAYED].about == ("a3",)
    assert sentences[Claim.WIDTH_NOT_TOLD].about == ("a1",)
    np.testing.assert_array_equal(np.isnan(similarity.mean[0]), [False, False, False, True])
    np.testing.assert_array_equal(np.isnan(similarity.task_std), [False, True, False, True])
    assert not {Claim.NOT_PLAYED, Claim.WIDTH_NOT_TOLD} & said(similar(rows)).keys()


@pytest.mark.parametrize("armed", [True, False])
def test_the_share_between_tasks_is_in_its_interval(armed):
    """Of a reward's variance, with features of variance 1: d t^2 / (d t^2 + 1), or t^2 / ..."""
    held, claims = [], set()
    for seed in range(12):
        signal = 0.5**2 * (1 if armed else 3)
        rows = drawn(seed, armed=armed, tasks=25, events=20, task_std=0.5, noise=1.0)
        similarity = similar(rows)
        low, high = similarity.share_ends
        held.append(low <= signal / (signal + 1) <= high)
        assert low <= similarity.overall_share <= high
        claims |= said(similarity).keys()
    assert sum(held) >= 10
    assert Claim.SHARE in claims


def test_the_ends_of_a_share_are_those_of_one_width_or_of_several():
    rows = drawn(3, armed=True, tasks=25, events=20, task_std=0.5, noise=1.0)
    asked = rows.arguments | QUICK | {"structure": "scalar"}
    one = learn_prior(rows.frame(), **asked)[1].similarity
    for place, width, noise in (
        (0, one.task_low, one.noise_high),
        (1, one.task_high, one.noise_low),
    ):
        assert one.share_ends[place] == pytest.approx(width[0] ** 2 / (width[0] ** 2 + noise**2))
    several = similar(rows)
    counts = np.bincount(rows.features) / rows.features.size
    std, high = (counts * part**2 for part in (several.task_std, several.task_high))
    signal = std.sum() + np.sqrt(((high - std) ** 2).sum())
    assert several.share_ends[1] == pytest.approx(signal / (signal + several.noise_low**2))


def test_no_share_is_claimed_of_equal_tasks():
    claims = [
        said(similar(drawn(seed, armed=True, tasks=20, events=20, task_std=0.0))).keys()
        for seed in range(10)
    ]
    assert sum(Claim.MAYBE_NO_SHARE in made for made in claims) >= 6
    assert all((Claim.MAYBE_NO_SHARE in made) != (Claim.SHARE in made) for made in claims)


def test_what_a_task_needs_is_said_of_each_coordinate():
    """Widths 0.35 and 0.075 need 8 and 178 rewards."""
    held = []
    for seed in range(10):
        cov = np.diag([0.35**2, 0.075**2])
        rows = drawn(seed, armed=False, tasks=60, events=60, d=2, task_cov=cov, noise=1.0)
        similarity = similar(rows)
        low, high = similarity.rewards_ends
        truth = 1 / np.diagonal(cov)
        held.append((low <= truth) & (truth <= high))
        needs = said(similarity)[Claim.NEEDS]
        assert needs.about == ("x0", "x1")
        if not similarity.maybe_zero.any():  # both numbers are said, each with its name
            for name, rewards in zip("01", similarity.rewards_to_equal, strict=True):
                assert f"{rewards:.2g} (x{name})" in needs.text or f"{rewards:.0f} (x{name})" in (
                    needs.text
                )
    assert np.mean(held) >= 0.85


def test_one_number_is_enough_where_arms_have_one_width():
    rows = drawn(3, armed=True, tasks=30, events=40, task_std=1.0, noise=1.0)
    similarity = similar(rows)
    similarity.rewards_to_equal[:] = 7.0
    needs = said(similarity)[Claim.NEEDS].text
    assert "about 7 rewards of an arm before" in needs


def test_widths_that_may_be_zero_are_named():
    """The intercept differs between tasks, and the slope does not."""
    rows = drawn(1, armed=False, tasks=40, events=30, d=2, task_cov=np.diag([1.0, 1e-12]))
    sentence = said(similar(rows))[Claim.WIDTHS_MAYBE_ZERO]
    assert sentence.about == ("x1",)
    assert "x1" not in said(similar(rows))[Claim.NEEDS].text  # of what may be zero, a least alone
    both = drawn(1, armed=False, tasks=40, events=30, d=2, task_std=1.0)
    assert Claim.WIDTHS_MAYBE_ZERO not in said(similar(both))


def test_a_fit_that_did_not_end_is_not_trusted():
    """The same log, fitted by one step and to the end: its widths are far from those of a start."""
    sums = sums_of(drawn(4, armed=True, tasks=50, events=20, task_std=0.01, noise=0.5))
    names = tuple(f"a{k}" for k in range(sums.xx.shape[1]))
    for steps in (1, 500):
        fit = fit_prior(sums, max_iterations=steps)
        known = TaskPosteriors.of(Belief.from_sums(fit.prior, sums))
        similarity = Similarity.of(fit, known, sums, names, ("all",))
        assert (Claim.NOT_CONVERGED in said(similarity)) == (steps == 1)


def test_features_that_repeat_each_other_are_named():
    rows = drawn(4, armed=False, tasks=20, events=30, d=2)
    assert Claim.NEARLY_REPEATED not in said(similar(rows))
    rows.features[:, 1] = 50 + rows.features[:, 0] / 10
    rows.features[:, 0] = 1.0
    assert Claim.NEARLY_REPEATED in said(similar(rows))


def test_widths_of_features_that_repeat_each_other_can_be_far_off():
    """Tasks differ by 1 in a constant and in a slope: the slope's feature has this mean."""
    for mean, repeated in ((0.0, False), (100.0, True)):
        rows = drawn(1, armed=False, tasks=40, events=30, d=2, task_std=1.0)
        rows.features[:, 0] = 1.0
        rows.features[:, 1] += mean
        signal = (rows.features * rows.theta[rows.task]).sum(1)
        rows.rewards[:] = signal + np.random.default_rng(0).normal(size=signal.size)
        similarity = similar(rows)
        low, high = similarity.task_low[0], similarity.task_high[0]
        assert low <= 1.0 <= high
        assert (Claim.NEARLY_REPEATED in said(similarity)) == repeated
        assert (high - low > 3.0) == repeated  # what tasks differ in, the log hardly tells
