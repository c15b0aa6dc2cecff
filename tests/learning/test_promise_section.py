"""What a start promises, in words, a table and a picture."""

import numpy as np
from support.learn_logs import learned

from hierbandits.learning.promise_section import (
    _percent,
    draw_promises,
    on_promises,
    promises_section,
)
from hierbandits.learning.promises import Promise, Promises
from hierbandits.learning.start_trial import NEW, NOTHING, PLAYERS, START


def made(means):
    """Promises whose worlds differ little."""
    rng = np.random.default_rng(0)
    promises = tuple(
        Promise(NEW, name, mean + 0.01 * rng.normal(size=(3, 50, 4)))
        for name, mean in means.items()
    )
    return Promises(horizon=3, runs=50, num_tasks={NEW: 20}, policy="HierTS", promises=promises)


def test_the_words_say_what_is_promised_and_saved():
    means = dict.fromkeys(PLAYERS, 2.0) | {START: 1.0, NOTHING: 4.0, "PooledTS": 1.0}
    (words,) = on_promises(made(means))
    assert "In new tasks, 20 of them for 3 rounds" in words
    assert "a regret of 1 a task, 90 % from 0.99" in words
    assert "on average over many such tasks, and from 0.99" in words
    assert "75 ± " in words
    assert "% less than without the log" in words
    assert "50 ± " in words
    assert "% less than with TS" in words
    assert "about as much as with PooledTS" in words
    same = Promises(
        horizon=1, runs=2, num_tasks={NEW: 20}, policy="HierTS",
        promises=tuple(Promise(NEW, name, np.ones((1, 2, 3))) for name in PLAYERS),
    )  # fmt: skip
    assert "about as much as with TS (+0 ± 0 %)" in on_promises(same)[0]
    words = on_promises(made(means | {"PooledTS": 0.2}))
    assert "% more than with PooledTS" in words[0]
    assert words[1].startswith("Pooling wins in new tasks")

    without = {name: mean for name, mean in means.items() if name != NOTHING}
    assert "less than with TS" in on_promises(made(without))[0]


def test_the_table_has_all_promises():
    promises = learned(True)[2].promises
    section = promises_section(promises)
    assert len(section.rows) == 2 * len(PLAYERS)
    row = dict(zip(section.columns, section.rows[2], strict=True))
    assert row["tasks: policy"] == "new: TS"
    assert float(row["regret"]) == float(f"{promises.of(NEW, 'TS').mean:.4g}")
    percent, _ = promises.saving(NEW, "TS")
    assert row["the start saves"] == f"{percent:+.1f} %"
    assert section.rows[0][-2:] == ["", ""]


def test_the_picture_has_a_line_for_each_and_a_band_for_the_start():
    promises = learned(True)[2].promises
    for axes in draw_promises(promises).axes:
        assert [line.get_label() for line in axes.lines] == list(PLAYERS)
        assert len(axes.collections) == 1
    left = draw_promises(promises).axes[0]
    np.testing.assert_allclose(left.lines[2].get_ydata(), promises.of(NEW, "TS").band()[0])


def test_percentages_have_two_digits_or_more():
    assert [_percent(value) for value in (152.3, 10.2, 9.94, 0.123)] == ["152", "10", "9.9", "0.12"]
    assert _percent(-5.0, "+") == "-5"
