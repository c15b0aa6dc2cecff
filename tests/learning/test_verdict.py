"""The findings in words: each claim where it is true, and where it is false."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from support.learn_logs import drawn, learned, sums_of

from hierbandits import learn_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.calibration import CONFIDENCES, Cells
from hierbandits.learning.model_comparison import Comparison
from hierbandits.learning.sentence import Claim
from hierbandits.learning.verdict import (
    on_agreement,
    on_calibration,
    on_correlations,
    on_models,
    on_not_sought,
    on_outliers,
    on_scores,
)

DIFFER = {Claim.ALIKE, Claim.STRANGERS, Claim.ALIKE_OR_STRANGERS}
SHARE = {Claim.EQUAL, Claim.ALIKE, Claim.ALIKE_OR_EQUAL}
CORRELATED = 0.96 * np.ones((3, 3)) + 0.04 * np.eye(3)


def report_on(rows, **more):
    asked = {"structure": "diagonal", "held_out": 0, "runs": 0, "progress": False} | more
    return learn_prior(rows.frame(), **rows.arguments, **asked)[1]


def of_tasks(seed, tasks, events, task_std, hyper_std=1.0):
    """What is said of tasks of known widths, and by what odds."""
    rows = drawn(
        seed, armed=True, tasks=tasks, events=events, task_std=task_std, hyper_std=hyper_std,
        noise=1.0, mean=0.0,
    )  # fmt: skip
    comparison = Comparison.of(sums_of(rows), np.zeros(tasks, np.intp))
    return on_models(comparison, learned(True)[2].similarity)[0]


def test_equal_tasks_are_not_called_strangers_by_small_logs():
    said = [of_tasks(seed, 3, 20, 0.0).claim for seed in range(30)]
    assert not DIFFER & set(said)
    said = [of_tasks(seed, 20, 50, 0.0).claim for seed in range(10)]
    assert not DIFFER & set(said)
    assert said.count(Claim.EQUAL) >= 5


def test_tasks_that_differ_are_not_called_equal():
    said = [of_tasks(seed, 20, 50, 1.0).claim for seed in range(10)]
    assert set(said) <= DIFFER
    assert said.count(Claim.ALIKE) >= 5
    said = [of_tasks(seed, 3, 20, 1.0).claim for seed in range(20)]
    assert Claim.EQUAL not in said


def test_strangers_are_not_said_to_share():
    said = [of_tasks(seed, 200, 5, 1.0, hyper_std=0.0).claim for seed in range(10)]
    assert not SHARE & set(said)
    assert Claim.STRANGERS in said


def test_what_remains_open_is_said_where_it_is_open():
    """Small logs of all worlds look alike; larger ones rule out one world or two."""
    worlds = {"equal": (0.0, 1.0), "alike": (1.0, 1.0), "strangers": (1.0, 0.0)}
    for width, shared in worlds.values():
        said = [of_tasks(seed, 3, 4, width, shared).claim for seed in range(12)]
        assert said.count(Claim.UNDECIDED) >= 8
        said = [of_tasks(seed, 20, 50, width, shared).claim for seed in range(8)]
        assert Claim.UNDECIDED not in said
    for tasks, width, shared, claim in (
        (10, 0.0, 1.0, Claim.ALIKE_OR_EQUAL),
        (20, 1.0, 0.0, Claim.ALIKE_OR_STRANGERS),
    ):
        said = [of_tasks(seed, tasks, 20, width, shared) for seed in range(8)]
        assert [sentence.claim for sentence in said].count(claim) >= 4
        others = {Claim.ALIKE_OR_EQUAL, Claim.ALIKE_OR_STRANGERS} - {claim}
        assert not others & {sentence.claim for sentence in said}


def test_the_side_of_the_odds_is_that_of_the_world():
    for width, shared, side in (
        (0.0, 1.0, "for one pooled model over a hierarchy"),
        (1.0, 1.0, "for a hierarchy over one pooled model"),
        (1.0, 0.0, "for independent tasks over a hierarchy"),
    ):
        right = 0
        for seed in range(8):
            rows = drawn(seed, armed=True, tasks=30, events=40, task_std=width, mean=0.0,
                         hyper_std=shared, noise=1.0)  # fmt: skip
            comparison = Comparison.of(sums_of(rows), np.zeros(30, np.intp))
            right += side in on_models(comparison, learned(True)[2].similarity)[1].text
        assert right >= 7


@pytest.mark.parametrize(("rows_of_a_task", "told"), [(1, False), (30, True)])
def test_tasks_of_one_row_are_called_nothing(rows_of_a_task, told):
    """They differ by as much as the noise, which only repeated rewards can show."""
    rng, task = np.random.default_rng(0), np.repeat(np.arange(40), rows_of_a_task)
    reward = rng.normal(size=40)[task] + rng.normal(size=task.size)
    frame = pl.DataFrame({"store": task, "promo": rng.integers(0, 2, task.size), "sale": reward})
    columns = {"task": "store", "arm": "promo", "reward": "sale"}
    asked = {"structure": "scalar", "held_out": 0, "runs": 0, "progress": False}
    claims = learn_prior(frame, **columns, **asked)[1].claims
    assert (Claim.UNDECIDED in claims) != told
    assert bool(DIFFER & claims.keys()) == told


@pytest.mark.parametrize("heavy", [False, True])
def test_odds_of_models_say_where_heavy_tails_may_mislead_them(heavy):
    """Noise of t with two degrees, and normal noise."""
    rng, task = np.random.default_rng(1), np.repeat(np.arange(20), 60)
    noise = rng.standard_t(2, task.size) if heavy else rng.normal(size=task.size)
    reward = 0.5 * rng.normal(size=20)[task] + noise
    frame = pl.DataFrame({"store": task, "promo": rng.integers(0, 2, task.size), "sale": reward})
    columns = {"task": "store", "arm": "promo", "reward": "sale"}
    asked = {"structure": "scalar", "held_out": 0, "runs": 0, "progress": False}
    report = learn_prior(frame, **columns, **asked)[1]
    assert (Claim.HEAVY_TAILS in report.claims) == heavy
    assert ("These odds take noise for Gaussian" in report.verdict[0]) == heavy


def test_claims_are_as_sure_as_their_odds():
    for seed in range(20):
        for width in (0.0, 0.3):
            sentence = of_tasks(seed, 10, 20, width)
            if sentence.claim is Claim.UNDECIDED:
                assert sentence.log_odds is None
            else:
                assert sentence.log_odds >= np.log(3)
                assert sentence.text.startswith("Probably") == (sentence.log_odds < np.log(20))


def test_widths_and_odds_that_seem_to_disagree_are_reconciled():
    """One arm of twelve differs between tasks."""
    cov, reconciled = np.diag([0.6**2] + [1e-12] * 11), []
    for seed in range(1, 6):
        rows = drawn(seed, armed=True, tasks=15, events=60, d=12, task_cov=cov, noise=1.0)
        report = report_on(rows)
        seems_equal = not DIFFER & report.claims.keys()
        assert (Claim.DIFFER_IN_SOME in report.claims) == (
            seems_equal and not report.similarity.maybe_zero.all()
        )
        reconciled += report.claims[Claim.DIFFER_IN_SOME].about if seems_equal else ()
    assert reconciled.count("a0") >= 4
    clear = report_on(drawn(3, armed=True, tasks=30, events=60, task_std=1.0))
    assert not {Claim.DIFFER_IN_SOME, Claim.DIFFER_LITTLE} & clear.claims.keys()

    models, similarity = on_models(clear.comparison, clear.similarity)[0], clear.similarity
    assert models.claim is Claim.ALIKE
    none = replace(similarity, maybe_zero=np.ones(3, bool))
    assert on_agreement(models, none)[0].claim is Claim.DIFFER_ALL_IN_ALL
    assert on_agreement(replace(models, claim=Claim.EQUAL), none) == []
    (little,) = on_agreement(replace(models, claim=Claim.ALIKE_OR_EQUAL), similarity)
    assert little.claim is Claim.DIFFER_LITTLE


def test_tasks_that_differ_little_are_said_to_and_others_are_not():
    """Widths of 0.2 and of 1, in units of the noise."""
    for width, claimed in ((0.2, True), (1.0, False)):
        rows = drawn(1, armed=True, tasks=40, events=40, d=2, task_std=width, noise=1.0)
        report = report_on(rows, structure="scalar")
        assert (Claim.DIFFER_LITTLE in report.claims) == claimed
        assert not report.similarity.maybe_zero.any()
        assert report.similarity.task_low[0] < width < report.similarity.task_high[0]


def test_many_arms_that_differ_together_are_said_to_and_equal_ones_are_not():
    """Twelve arms of 8 tasks: no width is told from zero alone, where it is 0.5 or 0."""
    for width, claimed in ((0.5, True), (0.0, False)):
        rows = drawn(3, armed=True, tasks=8, events=40, d=12, task_std=width, noise=1.0)
        report = report_on(rows)
        assert (Claim.DIFFER_ALL_IN_ALL in report.claims) == claimed
        assert report.similarity.maybe_zero.all()
        assert bool(DIFFER & report.claims.keys()) == claimed


def test_correlations_are_claimed_where_there_are_some():
    common = 0.5**2 * np.ones((3, 3)) + 0.1**2 * np.eye(3)
    for cov, claim in ((common, Claim.CORRELATED), (0.5**2 * np.eye(3), Claim.NOT_CORRELATED)):
        rows = drawn(2, armed=True, tasks=60, events=30, task_cov=cov, noise=1.0)
        report = report_on(rows, structure="auto")
        said = on_correlations(report.correlations, report.structure, report.similarity)
        assert said[0].claim is claim
        assert said[0].log_odds > np.log(3)
    unsure = StructureChoice({"diagonal": 0.0, "common": 0.9}, {"diagonal": 3, "common": 4}, 60)
    (sentence,) = on_correlations(None, unsure, report.similarity)
    assert sentence.claim is Claim.CORRELATION_UNDECIDED
    assert on_correlations(None, None, report.similarity) == []


def test_few_tasks_do_not_show_that_arms_are_not_correlated():
    """Of 3-to-1 odds against correlations of 0.96, about half came from logs of this size."""
    said = []
    for seed in range(12):
        rows = drawn(seed, armed=True, tasks=6, events=12, task_cov=0.25 * CORRELATED, noise=1.0)
        choice = StructureChoice.of(sums_of(rows), np.zeros(6, np.intp), None, 0)
        said += on_correlations(None, choice, learned(True)[2].similarity)
    assert [s.claim for s in said].count(Claim.CORRELATION_UNDECIDED) >= 8
    assert Claim.NOT_CORRELATED not in [s.claim for s in said]
    assert min(s.log_odds for s in said) < -np.log(3)


@pytest.mark.parametrize("cov", [0.25 * np.eye(3), 0.25 * CORRELATED])
def test_a_structure_that_was_chosen_is_not_what_the_log_says(cov):
    """Arms may be correlated in truth or not: who forces correlations did not ask."""
    report = report_on(drawn(2, armed=True, tasks=30, events=30, task_cov=cov), structure="common")
    assert Claim.CORRELATED not in report.claims
    assert report.claims[Claim.CORRELATION_UNDECIDED].log_odds is None


@pytest.mark.parametrize(("with_two", "told"), [(0, False), (1, False), (10, True)])
def test_arms_that_no_task_plays_together_show_no_correlations(with_two, told):
    """Every task plays one arm, but for some that play both."""
    rng, task = np.random.default_rng(4), np.repeat(np.arange(20), 8)
    arm = np.where((task < with_two) & (rng.random(160) < 0.5), 1 - task % 2, task % 2)
    reward = rng.normal(size=20)[task] + rng.normal(size=160)
    frame = pl.DataFrame({"store": task, "promo": arm, "sale": reward})
    columns = {"task": "store", "arm": "promo", "reward": "sale"}
    asked = {"structure": "common", "held_out": 0, "runs": 0, "progress": False}
    report = learn_prior(frame, **columns, **asked)[1]
    said = on_correlations(report.correlations, report.structure, report.similarity)
    assert said[0].claim is Claim.CORRELATION_UNDECIDED
    assert ("was not asked" in said[0].text) == told


def test_tasks_that_stand_out_are_those_that_do():
    rows = drawn(5, armed=True, tasks=25, events=30)
    (sentence,) = on_outliers(report_on(rows).outliers)
    assert sentence.claim is Claim.NO_OUTLIERS
    rows.rewards[rows.task == 7] += 5.0
    (sentence,) = on_outliers(report_on(rows).outliers)
    assert (sentence.claim, sentence.about) == (Claim.OUTLIERS, ("t7",))


def heavy(rng, size):
    return 0.3 * rng.standard_t(1.5, size)


@pytest.mark.parametrize(
    ("noise", "events", "claim"),
    [(0.5, 80, Claim.HOLD), (heavy, 80, Claim.OFF), (0.5, 4, Claim.HOLD_NOT_TOLD)],
)
def test_predictions_are_said_to_hold_where_they_do_and_it_shows(noise, events, claim):
    rows = drawn(6, armed=True, tasks=20, events=events, noise=noise)
    calibration = report_on(rows, held_out=0.3).calibration
    assert on_calibration(calibration)[-1].claim is claim


def test_what_few_rows_show_is_not_said_to_hold():
    calibration = learned(True)[2].calibration
    assert on_calibration(calibration)[-1].claim is Claim.HOLD
    off = np.array(CONFIDENCES) - [0.19, 0.1, 0.05, 0.05]
    few = replace(calibration, coverage=off, coverage_error=np.full(4, 0.09), cells=None)
    assert on_calibration(few)[-1].claim is Claim.HOLD_NOT_TOLD
    exact = replace(few, coverage=np.array(CONFIDENCES))  # by luck
    assert on_calibration(exact)[-1].claim is Claim.HOLD_NOT_TOLD
    many = replace(few, coverage_error=np.full(4, 0.02))
    assert on_calibration(many)[-1].claim is Claim.OFF
    two = [sentence.claim for sentence in on_calibration(replace(many, two_valued=True))]
    assert two == [Claim.TWO_VALUED, Claim.HOLD_NOT_TOLD]  # there are no means to judge
    cells = Cells(
        count=2000, histogram=calibration.histogram, coverage=off,
        coverage_error=np.full(4, 0.01), z_std=1.5,
    )  # fmt: skip
    assert on_calibration(replace(calibration, cells=cells))[-1].claim is Claim.OFF


def clicks(seed, tasks, rows, rate=(0.05, 0.15)):
    """A log of clicks at two rates, the same in all tasks."""
    rng, task = np.random.default_rng(seed), np.repeat(np.arange(tasks), rows)
    arm = rng.integers(0, 2, task.size)
    clicked = (rng.random(task.size) < np.array(rate)[arm]).astype(float)
    return pl.DataFrame({"store": task, "promo": arm, "click": clicked})


@pytest.mark.parametrize(("rows", "last"), [(120, Claim.HOLD), (12, Claim.HOLD_NOT_TOLD)])
def test_clicks_are_judged_by_their_means(rows, last):
    """No task of 12 rows has ten held-out rewards of an arm."""
    columns = {"task": "store", "arm": "promo", "reward": "click"}
    asked = {"structure": "scalar", "held_out": 0.3, "runs": 0, "progress": False}
    calibration = learn_prior(clicks(0, 120, rows), **columns, **asked)[1].calibration
    said = on_calibration(calibration)
    assert [sentence.claim for sentence in said] == [Claim.TWO_VALUED, last]
    share = calibration.of_rows.coverage[0]
    assert abs(share - 0.5) > 0.1  # single clicks are predicted badly, as the sentence says
    assert (calibration.cells is None) == (last is Claim.HOLD_NOT_TOLD)
    gaussian = learned(True)[2].calibration
    assert Claim.TWO_VALUED not in [sentence.claim for sentence in on_calibration(gaussian)]


def scored(seed, width, events):
    rows = drawn(seed, armed=True, tasks=20, events=events, task_std=width, noise=1.0)
    (sentence,) = on_scores(report_on(rows, structure="scalar", held_out=0.3).calibration)
    assert sentence.claim is Claim.SCORES
    return sentence.text.split(" and ")[0].split(" are ")[1]


def test_scores_are_better_where_tasks_differ():
    """Pooled tasks are right where all are equal, and wrong where they differ by 1."""
    assert all(scored(seed, 1.0, 60).startswith("better than pooled") for seed in range(4))
    said = [scored(seed, 0.0, 60) for seed in range(4, 9)]
    assert not any(text.startswith("better") for text in said)
    assert any(text.startswith("about as good as pooled") for text in said)
    assert any(text.startswith("worse than pooled") for text in said)
    said = [scored(seed, 0.6, 4) for seed in range(4)]  # few rows do not show it
    assert any(text.startswith("perhaps as good as pooled") for text in said)


def test_what_is_not_told_apart_is_not_called_better():
    calibration = replace(
        learned(True)[2].calibration,
        advantage={"pooled": (0.3, 0.1), "independent": (-0.019, 0.01)},
    )
    (sentence,) = on_scores(calibration)
    assert "better than pooled ones by 0.3 ± 0.1" in sentence.text
    assert "about as good as independent ones (-0.019 ± 0.01)" in sentence.text


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["diagonal", "common", "full"], None),
        (["diagonal", "common", "low-rank 1", "low-rank 2"], "of more than 2 factors were not"),
        (["diagonal", "common", "low-rank 1"], "of more than one factor were not looked for"),
        (["diagonal", "common"], "other than by a part that all have in common were not looked"),
        (["diagonal"], "of the arms of a task were not looked for: with 3 arms"),
    ],
)
def test_correlations_that_nobody_looked_for_are_said(names, words):
    report = learned(True)[2]
    choice = StructureChoice(dict.fromkeys(names, 0.0), dict.fromkeys(names, 1), 20)
    said = on_not_sought(choice, report.similarity)
    assert on_not_sought(None, report.similarity) == []
    assert [sentence.claim for sentence in said] == [Claim.CORRELATION_NOT_SOUGHT] * bool(words)
    assert words is None or words in said[0].text
    claims = replace(report, structure=choice).claims
    assert (Claim.CORRELATION_NOT_SOUGHT in claims) == (choice.most_factors == 0)
