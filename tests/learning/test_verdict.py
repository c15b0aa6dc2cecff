"""The findings in words: each claim where it is true, and where it is false."""

from dataclasses import replace

import numpy as np
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
    on_outliers,
    on_scores,
)

DIFFER = {Claim.ALIKE, Claim.STRANGERS, Claim.ALIKE_OR_STRANGERS}
SHARE = {Claim.EQUAL, Claim.ALIKE, Claim.ALIKE_OR_EQUAL}


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


def test_what_is_not_told_apart_is_not_called_better():
    calibration = replace(
        learned(True)[2].calibration,
        advantage={"pooled": (0.3, 0.1), "independent": (-0.019, 0.01)},
    )
    (sentence,) = on_scores(calibration)
    assert "better than pooled ones by 0.3 ± 0.1" in sentence.text
    assert "about as good as independent ones (-0.019 ± 0.01)" in sentence.text
