"""What a log shows against the model: seen where it is, and not where it is not."""

import numpy as np
import polars as pl
import pytest
from support.learn_logs import drawn
from support.troubled_logs import checked, troubled, troubles

from hierbandits import Columns, Log, learn_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.log_checks import check_correlations
from hierbandits.learning.sentence import Claim

SEEN = [
    ("drift", Claim.DRIFT),
    ("drift of tasks", Claim.DRIFT),
    ("groups", Claim.TWO_GROUPS),
    ("noise by arm", Claim.NOISE_BY_ARM),
    ("noise by task", Claim.NOISE_BY_TASK),
    ("tails", Claim.HEAVY_TAILS),
]


@pytest.mark.parametrize(("trouble", "claim"), SEEN)
@pytest.mark.parametrize("armed", [True, False])
def test_a_trouble_is_seen_where_it_is(trouble, claim, armed):
    if trouble == "noise by arm" and not armed:
        return
    seen = [troubles(troubled(seed, armed=armed, trouble=trouble)) for seed in range(4)]
    assert sum(claim in found for found in seen) >= 3


@pytest.mark.parametrize("armed", [True, False])
@pytest.mark.parametrize(("tasks", "rows"), [(3, 20), (20, 20), (100, 5)])
def test_clean_logs_raise_few_alarms(armed, tasks, rows):
    alarms = [
        bool(troubles(troubled(seed, armed=armed, tasks=tasks, rows=rows))) for seed in range(12)
    ]
    assert sum(alarms) <= 2  # measured: 1 to 3 % of 300 logs of each kind


def test_noise_by_arm_is_not_taken_for_noise_by_task():
    seen = [
        troubles(troubled(seed, tasks=100, rows=10, trouble="noise by arm")) for seed in range(4)
    ]
    assert sum(Claim.NOISE_BY_TASK in found for found in seen) <= 1


def test_a_check_that_cannot_be_made_says_why():
    frame = pl.DataFrame({"t": np.arange(30), "a": np.arange(30) % 2, "y": np.arange(30) / 7})
    alone = checked(Log.read(frame, Columns(task="t", arm="a", reward="y")))
    assert not any(check.is_made for check in alone)
    assert all(check.words and check.claim is None for check in alone)
    assert "no column of times" in alone[0].words
    same = checked(
        Log.read(frame.with_columns(w=pl.lit(1)), Columns(task="t", arm="a", reward="y", time="w"))
    )
    assert "one time" in same[0].words
    two = frame.with_columns(y=pl.col("t") % 3 == 0, t=pl.col("t") // 10).cast({"y": pl.Int64})
    told = {c.asks: c for c in checked(Log.read(two, Columns(task="t", arm="a", reward="y")))}
    assert "two values" in told["Do rewards have heavy tails?"].words
    features = checked(troubled(0, armed=False))
    assert "features in place of arms" in next(c for c in features if "by arm" in c.asks).words


def test_populations_are_no_groups():
    rows = drawn(3, armed=True, tasks=40, events=60, populations=2, hyper_std=5.0, noise=1.0)
    frame, named = rows.frame(), {"task": "store", "reward": "revenue", "arm": "promo"}
    apart = Log.read(frame, Columns(population="country", **named))
    assert Claim.TWO_GROUPS not in troubles(apart)
    assert Claim.TWO_GROUPS in troubles(Log.read(frame, Columns(**named)))


def test_correlations_have_the_odds_of_their_structures():
    logs = {"diagonal": 0.0, "common": 4.0}
    choice = StructureChoice(logs, {"diagonal": 3, "common": 4}, 9)
    assert check_correlations(choice, "arms").claim is Claim.CORRELATED
    weak = StructureChoice(logs | {"common": 2.0}, {"diagonal": 3, "common": 4}, 9)
    check = check_correlations(weak, "arms")
    assert (check.claim, check.log_odds) == (None, 2.0)
    assert not check_correlations(None, "arms").is_made


@pytest.mark.parametrize("held_out", [0, 0.2])
def test_a_report_has_the_checks_of_its_log(held_out):
    log = troubled(1, trouble="drift")
    asked = {"runs": 0, "structure": "scalar", "progress": False, "held_out": held_out}
    _, report = learn_prior(log, **asked)
    assert Claim.DRIFT in report.claims
    for one, other in zip(report.checks, checked(log), strict=True):
        assert one.p_value == pytest.approx(other.p_value)
    frame = log.source.collect() if hasattr(log.source, "collect") else log.source
    named = {"task": "task", "arm": "arm", "reward": "reward"}
    assert Claim.DRIFT in learn_prior(frame, **named, time="time", **asked)[1].claims
    assert Claim.DRIFT not in learn_prior(frame, **named, **asked)[1].claims  # nobody can see it
