"""What is told of an evaluation."""

from dataclasses import replace

import numpy as np
from scipy.stats import t as student
from support.logged import World

from hierbandits import evaluate
from hierbandits.service.evaluation_reply import BEST_ARM, CANDIDATE, findings


def told(rows, confidence=0.95):
    rng = np.random.default_rng(3)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, rows))
    policies = {CANDIDATE: "greedy", BEST_ARM: BEST_ARM}
    evaluation = evaluate(log, policies, ["dm", "dr"], confidence=confidence)
    return evaluation, findings(evaluation, rows, 7, ["more"])


def test_numbers_are_those_of_the_method_to_be_trusted_first():
    evaluation, found = told(2000)
    candidate, logged, best = found.policies
    estimate = evaluation[CANDIDATE, "dr"]
    assert (candidate.reward.value, candidate.reward.low) == (estimate.value, estimate.low)
    assert candidate.over_log.value == estimate.improvement
    (beside,) = [
        each
        for each in evaluation.differences
        if (each.policy, each.against, each.method) == (CANDIDATE, BEST_ARM, "dr")
    ]
    assert candidate.over_best_arm.high == beside.high
    assert logged.reward.value == evaluation["logged", "logged"].value
    assert best.reward.value == evaluation[BEST_ARM, "dr"].value
    assert (best.over_best_arm, logged.effective_rows) == (None, None)
    assert found.verdict == evaluation.verdict.sentence
    assert (found.until_event, found.warnings[-1]) == (7, "more")


def test_what_is_claimed_is_as_sure_as_the_sentence():
    """Two policies are compared: twice the chance of one error must be below what is allowed."""
    evaluation, _ = told(150)
    (one,) = [
        each
        for each in evaluation.differences
        if (each.policy, each.against, each.method) == (CANDIDATE, "logged", "dr")
    ]
    chance = 2 * student(one.degrees).sf(one.value / one.error)
    assert 0 < chance < 0.2
    for times, claimed in ((1.5, None), (2.5, True)):
        evaluation, found = told(150, 1 - times * chance)
        assert found.policies[0].over_log.low > 0  # of the candidate alone
        assert found.better_than_log is claimed
        assert evaluation.verdict.more_than_log is claimed


def test_what_rows_do_not_tell_is_null():
    evaluation, _ = told(100)
    unknown = [replace(each, low=np.nan, high=np.nan) for each in evaluation.estimates]
    found = findings(replace(evaluation, estimates=tuple(unknown)), 100, 7, [])
    assert found.policies[0].reward.value is not None
    assert (found.policies[0].reward.low, found.policies[1].reward.high) == (None, None)
