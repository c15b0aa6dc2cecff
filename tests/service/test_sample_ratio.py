"""Arms that are seen, beside the propensities with which they were drawn."""

import json

import numpy as np
import pytest

from hierbandits.service.sample_ratio import RatioBets, SampleRatio, ratio_factors

ARMS = ["a", "b", "c"]


def exposures(rng, number, lost=0.0):
    """Arms with their propensities, which change all the time; some of arm "b" are lost."""
    for _ in range(number):
        odds = rng.dirichlet([4.0, 4.0, 4.0])
        arm = ARMS[rng.choice(3, p=odds)]
        if arm != "b" or rng.random() >= lost:
            yield arm, ARMS, odds.tolist()


def evidence(rows, arms=ARMS):
    ratio = SampleRatio(100.0, arms)
    for row in rows:
        ratio.add(*row)
    return ratio


def test_a_fair_bet_on_each_arm_and_loss():
    odds = np.array([0.5, 0.3, 0.2, 0.0])
    mean = sum(p * ratio_factors(np.eye(4)[arm], odds) for arm, p in enumerate(odds))
    np.testing.assert_allclose(mean, 1.0, rtol=1e-12)


def test_sound_policies_seldom_alarm():
    rng, policies = np.random.default_rng(0), 4000
    bets, ever = RatioBets(3, 100.0, (policies,)), np.zeros(policies, bool)
    for _ in range(400):
        odds = rng.dirichlet([1.0, 1.0, 1.0], policies)
        played = (rng.random((policies, 1)) > odds.cumsum(axis=1)).sum(axis=1)
        bets.see(np.eye(3)[played], odds)
        ever |= bets.total >= 100
    assert 0 < ever.mean() <= 0.01


def test_a_batch_is_as_each_alone():
    rng, alone = np.random.default_rng(2), [RatioBets(3, 100.0) for _ in range(4)]
    batch = RatioBets(3, 100.0, (4,))
    for _ in range(200):
        odds = rng.dirichlet([4.0, 4.0, 4.0], 4)
        played = np.eye(3)[rng.integers(0, 3, 4)]
        for one, its, chances in zip(alone, played, odds, strict=True):
            one.see(its, chances)
        batch.see(played, odds)
    np.testing.assert_allclose(batch.total, [one.total for one in alone], rtol=1e-12)


def test_a_quarter_of_the_account_is_never_bet(monkeypatch):
    """Whatever is seen: so the chance of a false alarm is at most 0.75 %, and 1 % is stated.

    Here arms come in turn until all deadlines are over, and most of what is bet is lost.
    """
    monkeypatch.setattr("hierbandits.service.aimed_bets.DEADLINES", np.array([50.0, 100.0]))
    rows = [(arm, ["a", "b"], [0.5, 0.5]) for arm in "ab" * 400]
    assert 0.25 < evidence(rows, ["a", "b"]).evidence < 0.5


def test_an_account_of_an_earlier_release_is_refused():
    """Its bets were larger: the ledger says what the present one would have."""
    data = evidence(exposures(np.random.default_rng(4), 20)).to_dict()
    del data["bets"]["account"]
    with pytest.raises(ValueError, match="account must be 2, got None"):
        SampleRatio.from_dict(100.0, data)


def test_an_arm_that_is_lost_is_found_and_counted():
    ratio = evidence(exposures(np.random.default_rng(1), 3000, lost=0.3))
    assert ratio.evidence > 100
    place = ratio.arms.index("b")
    assert ratio.seen[place] < 0.8 * ratio.expected[place]
    assert sum(ratio.seen) == ratio.count == pytest.approx(sum(ratio.expected))


def test_an_arm_that_comes_later_is_found_too():
    ratio = SampleRatio(100.0, ["a"])
    for _ in range(300):
        ratio.add(*("a", ["a", "new"], [0.5, 0.5]))
    assert ratio.evidence > 100


def test_no_exposures_and_certain_ones_say_nothing():
    assert SampleRatio(100.0).evidence == 1.0
    ratio = evidence([("a", ["a"], [1.0])] * 1000, [])
    assert ratio.evidence == pytest.approx(1.0)


def test_it_goes_on_after_a_file_bit_for_bit():
    rows = list(exposures(np.random.default_rng(3), 60))
    one, first = evidence(rows), evidence(rows[:40])
    two = SampleRatio.from_dict(100.0, json.loads(json.dumps(first.to_dict())))
    for row in rows[40:]:
        two.add(*row)
    assert one.to_dict() == two.to_dict()
    assert SampleRatio.from_dict(100.0, SampleRatio(100.0).to_dict()).evidence == 1.0


def test_arms_that_come_later_are_bet_on_with_money_that_was_kept_for_them():
    ratio = SampleRatio(100.0, ["a"])
    for number in range(5):
        ratio.add("a", ["a", f"new {number}"], [1.0, 0.0])
        assert ratio.evidence == pytest.approx(1.0, abs=1e-12)
