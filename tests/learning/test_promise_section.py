"""What a start promises, in words, a table and a picture."""

import numpy as np
import pytest
from support.learn_logs import drawn, learned

import hierbandits as hb
from hierbandits.learning.promise_section import (
    Setting,
    _percent,
    draw_promises,
    on_promises,
    promises_section,
)
from hierbandits.learning.promises import Promise, Promises
from hierbandits.learning.sentence import Claim, texts
from hierbandits.learning.start_trial import NEW, NOTHING, OWN, PLAYERS, START


def made(means, policy="HierTS"):
    """Promises whose worlds differ little."""
    rng = np.random.default_rng(0)
    promises = tuple(
        Promise(NEW, name, mean + 0.01 * rng.normal(size=(3, 50, 4)))
        for name, mean in means.items()
    )
    return Promises(horizon=3, runs=50, num_tasks={NEW: 20}, policy=policy, promises=promises)


def claims(means, policy="HierTS", **setting):
    sentences = on_promises(made(means, policy), Setting(**setting))
    return {sentence.claim: sentence for sentence in sentences}


MEANS = dict.fromkeys(PLAYERS, 2.0) | {START: 1.0, NOTHING: 4.0, "PooledTS": 1.0}


def test_the_words_say_what_is_promised_and_saved():
    said = claims(MEANS)
    assert said.keys() == {Claim.PROMISE, Claim.SAVING}
    words = said[Claim.PROMISE].text
    assert "In new tasks, 20 of them for 3 rounds" in words
    assert "a regret of 1 a task, 90 % from 0.99" in words
    assert "on average over many such tasks, and from 0.99" in words
    words = said[Claim.SAVING].text
    assert "75 ± " in words
    assert "% less than without the log" in words
    assert "50 ± " in words
    assert "% less than with TS" in words
    assert "about as much as with PooledTS" in words
    same = Promises(
        horizon=1, runs=2, num_tasks={NEW: 20}, policy="HierTS",
        promises=tuple(Promise(NEW, name, np.ones((1, 2, 3))) for name in PLAYERS),
    )  # fmt: skip
    assert " as much as with TS and" in on_promises(same, Setting())[1].text
    without = {name: mean for name, mean in MEANS.items() if name != NOTHING}
    assert "less than with TS" in claims(without)[Claim.SAVING].text


def test_a_start_that_has_more_regret_than_pooling_says_so():
    for regret, words in ((0.2, "% more than with"), (2.0, "% less than with")):
        text = claims(MEANS | {"PooledTS": regret})[Claim.SAVING].text
        assert f"{words} PooledTS" in text


def test_odds_for_sharing_beside_a_ts_that_is_as_good_are_reconciled():
    """TS of the promises knows the log: what a log shares, it has."""
    assert Claim.TS_SHARES_TOO in claims(MEANS | {"TS": 1.0}, log_odds_of_sharing=48.0)
    assert Claim.TS_SHARES_TOO not in claims(MEANS, log_odds_of_sharing=48.0)
    assert Claim.TS_SHARES_TOO not in claims(MEANS | {"TS": 1.0}, log_odds_of_sharing=0.5)
    few = np.random.default_rng(6).exponential(size=8)  # worlds that leave open who is better
    said = on_promises(_promises(few, few[::-1]), Setting(log_odds_of_sharing=48.0))
    assert Claim.TS_SHARES_TOO not in [sentence.claim for sentence in said]


def test_what_the_rule_saves_is_not_put_down_to_sharing():
    """HierTS chooses as TS does: what it does not save, the start's rule saves."""
    rule = MEANS | {"HierTS": 2.0, "TS": 2.0}
    said = claims(rule, "HierIDS", log_odds_of_sharing=48.0)
    assert "50 ± " in said[Claim.SAVING].text
    alone = said[Claim.SHARING_ALONE].text
    assert "The start chooses by HierIDS, TS and PooledTS by Thompson sampling." in alone
    assert "has about as much as TS (" in alone
    assert Claim.TS_SHARES_TOO in said
    shared = claims(rule | {"HierTS": 1.0}, "HierIDS", log_odds_of_sharing=48.0)
    assert "less than TS in new tasks: " in shared[Claim.SHARING_ALONE].text
    assert Claim.TS_SHARES_TOO not in shared
    assert Claim.SHARING_ALONE not in claims(rule)  # the start is HierTS


@pytest.fixture(scope="module")
def simulated():
    """Reports on logs that leave much of what tasks share open, little of it, and nothing."""
    asked = {"structure": "scalar", "held_out": 0, "runs": 30, "progress": False}
    kinds = {
        "little known": (drawn(5, armed=True, tasks=12, events=6, populations=3, d=6, mean=0.0,
                               hyper_std=0.5, task_std=0.3, noise=1.0), 20),
        "well known": (drawn(11, armed=True, tasks=20, events=60, d=4, task_std=1.0,
                             noise=1.0), 10),
        "far apart": (drawn(9, armed=True, hyper_std=10.0, task_std=0.05), 5),
    }  # fmt: skip
    return {
        kind: (rows, hb.learn_prior(rows.frame(), **rows.arguments, horizon=rounds, **asked)[1])
        for kind, (rows, rounds) in kinds.items()
    }


def test_sharing_is_worth_something_where_there_is_something_left_to_share(simulated):
    """Sixty rows of twenty tasks tell what tasks share; six rows of few tasks do not."""
    said = simulated["little known"][1].claims
    assert "% less than TS in new tasks: so much" in said[Claim.SHARING_ALONE].text
    assert Claim.TS_SHARES_TOO not in said
    said = simulated["well known"][1].claims
    assert "about as much as TS (" in said[Claim.SHARING_ALONE].text
    assert "TS is no worse than HierTS here" in said[Claim.TS_SHARES_TOO].text
    assert "% less than with TS " in said[Claim.SAVING].text  # by its rule: it is not HierTS


def test_no_regret_is_promised_only_where_one_arm_is_best_in_all_tasks(simulated):
    for kind, (rows, report) in simulated.items():
        second, best = np.sort(rows.theta, axis=1)[:, -2:].T
        same = np.unique(rows.theta.argmax(axis=1)).size == 1
        sure = same and (best - second).min() > 50 * 0.05  # many widths of that log
        assert ("promised no regret" in report.claims[Claim.PROMISE].text) == sure
        assert sure == (kind == "far apart")
        assert (report.promises.of(NEW).mean == 0) == sure
    saved = simulated["far apart"][1].claims[Claim.SAVING].text
    assert "% less than without the log, as much as with TS" in saved


def test_what_a_start_cannot_learn_or_was_not_told_is_said():
    rows = drawn(5, armed=True, tasks=12, events=20, populations=3)
    arguments = rows.arguments | {"arms": ["a0", "a1", "a2", "never"]}
    asked = {"runs": 2, "held_out": 0, "horizon": 2, "structure": "scalar", "progress": False}
    said = hb.learn_prior(rows.frame(), **arguments, **asked)[1].claims
    assert said[Claim.PROMISE_WITHOUT].about == ("never",)
    assert Claim.STATED_WIDTHS in said  # there are several populations
    said = learned(True)[2].claims
    assert not {Claim.PROMISE_WITHOUT, Claim.STATED_WIDTHS} & said.keys()


def test_the_table_has_all_promises():
    promises = learned(True)[2].promises
    section = promises_section(promises, Setting())
    assert len(section.rows) == 2 * len(PLAYERS)
    row = dict(zip(section.columns, section.rows[2], strict=True))
    assert row["tasks: policy"] == "new: TS"
    assert float(row["regret"]) == float(f"{promises.of(NEW, 'TS').mean:.4g}")
    percent, _ = promises.saving(NEW, "TS")
    assert row["the start saves"] == f"{percent:+.1f} %"
    assert section.rows[0][-2:] == ["", ""]
    start = promises.of(NEW)
    assert "over 80 of them in each world; in the 20 in which all play" in section.words[-1]
    assert f"it is {start.beside:.4g}. HierTS has" in section.words[-1]
    assert float(section.rows[0][1]) == float(f"{start.mean:.4g}")
    alone = promises_section(_promises([1, 2, 3], [1, 2, 4]), Setting())
    assert "in which all play" not in alone.words[-1]


def test_the_picture_has_a_line_for_each_and_a_band_for_the_start():
    promises = learned(True)[2].promises
    for axes in draw_promises(promises).axes:
        assert [line.get_label() for line in axes.lines] == list(PLAYERS)
        assert len(axes.collections) == 1
    left = draw_promises(promises).axes[0]
    np.testing.assert_allclose(left.lines[2].get_ydata(), promises.of(NEW, "TS").band()[0])


@pytest.mark.parametrize(("pooled", "is_log"), [(3.0, False), (40.0, True)])
def test_one_line_far_above_the_others_makes_the_axis_one_of_powers_of_ten(pooled, is_log):
    (axes,) = draw_promises(made(MEANS | {"PooledTS": pooled})).axes
    assert (axes.get_yscale() == "log") == is_log
    assert ("log scale" in axes.get_ylabel()) == is_log
    low, high = axes.get_ylim()
    ends = [line.get_ydata()[-1] for line in axes.lines]
    assert low < min(ends) <= max(ends) < high
    assert (low == 0) != is_log
    none = made(dict.fromkeys(PLAYERS, 0.0))
    for promise in none.promises:
        promise.regret[:] = 0.0
    assert draw_promises(none).axes[0].get_yscale() == "linear"


def test_percentages_have_two_digits_or_more():
    assert [_percent(value) for value in (152.3, 10.2, 9.94, 0.123)] == ["152", "10", "9.9", "0.12"]
    assert _percent(-5.0, "+") == "-5"


def _promises(ours, others, horizon=1):
    """Promises of one new task in as many worlds as there are numbers."""
    parts = {START: ours, "TS": others, "PooledTS": others, NOTHING: others}
    made = [
        Promise(tasks, name, np.array(regret, float)[None, :, None])
        for tasks in (NEW, OWN)
        for name, regret in parts.items()
    ]
    return Promises(horizon=horizon, runs=len(ours), num_tasks={NEW: 1, OWN: 1}, policy="HierTS",
                    promises=tuple(made))  # fmt: skip


def test_worlds_that_leave_much_open_show_no_two_as_equal():
    rng = np.random.default_rng(6)
    few = rng.exponential(size=8)
    text = " ".join(texts(on_promises(_promises(few, few[::-1]), Setting())))
    assert "perhaps as much as with TS" in text
    assert "about as much" not in text
    many = 5 + rng.normal(size=200) * 0.1
    text = " ".join(texts(on_promises(_promises(many, many[::-1], 12), Setting())))
    assert "about as much as with TS" in text
    assert "for 12 rounds," in text


def test_no_regret_is_said_as_such():
    text = " ".join(texts(on_promises(_promises([0, 0, 0], [0, 0, 0]), Setting())))
    assert "for 1 round, an agent that begins with this start is promised no regret: it" in text
    assert "none in any of 3 worlds" in text
    assert "as much as with TS and" in text
    text = " ".join(texts(on_promises(_promises([0, 0, 1], [0, 0, 2]), Setting())))
    assert "no regret" not in text


def test_nothing_is_promised_where_nobody_knows_how_much_tasks_differ():
    """Equal arms in equal tasks: regret is 0, and one row a task cannot show it."""
    rng, task = np.random.default_rng(3), np.arange(60)
    asked = {"task": "task", "arm": "arm", "reward": "reward", "runs": 4, "horizon": 2}
    asked |= {"structure": "diagonal", "held_out": 0, "progress": False}
    alone = {"task": task, "arm": task % 2, "reward": rng.normal(size=60)}
    report = hb.learn_prior(alone, **asked)[1]
    assert report.promises is None
    assert Claim.NO_PROMISE in report.claims
    assert Claim.PROMISE not in report.claims
    assert "regret" not in [section.name for section in report.sections()]
    repeated = {"task": task // 6, "arm": task % 2, "reward": rng.normal(size=60)}
    said = hb.learn_prior(repeated, **asked)[1].claims
    assert Claim.PROMISE in said
    assert Claim.NO_PROMISE not in said
    asked["runs"] = 0
    assert Claim.NO_PROMISE not in hb.learn_prior(alone, **asked)[1].claims  # nobody asked
