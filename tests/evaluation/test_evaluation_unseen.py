"""What an evaluation cannot see stands in a section of that name."""

import numpy as np
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_unseen import unseen_table

WORLD = World(np.tile([0.0, 0.6, 0.2], (6, 1)), np.full((6, 3), 1 / 3))


def _why(evaluation):
    heading, columns, rows = unseen_table(evaluation)
    assert heading == "What it cannot see"
    assert {len(row) for row in rows} == {len(columns)}
    assert rows[0][0] == "Confounding"
    return dict(rows)


def test_confounding_is_said_as_the_log_allows():
    frame = WORLD.rows(np.random.default_rng(1), 200)
    asked = {"prior": WORLD.prior(), "folds": 2}
    weighed = _why(evaluate(WORLD.log(frame), "uniform", **asked))
    assert weighed["Confounding"].startswith("Propensities are taken as they are.")
    alone = _why(evaluate(WORLD.log(frame, propensity=None), "uniform", **asked))
    assert alone["Confounding"].startswith("There are no propensities")
    stated = _why(evaluate(WORLD.log(frame, propensity=None), "uniform", uniform=True, **asked))
    assert stated["Confounding"].startswith("You said that every eligible arm")


def test_arms_that_could_not_be_played_are_unseen_unless_the_log_names_them():
    frame = WORLD.rows(np.random.default_rng(1), 200, barred=0.2)
    asked = {"prior": WORLD.prior(), "folds": 2}
    named = WORLD.log(frame, eligible="eligible")
    assert "Arms that could not be played" not in _why(evaluate(named, "uniform", **asked))
    unnamed = WORLD.log(frame, eligible=None)
    assert "Arms that could not be played" in _why(evaluate(unnamed, "uniform", **asked))


def test_the_page_has_the_section():
    frame = WORLD.rows(np.random.default_rng(1), 200)
    html = evaluate(WORLD.log(frame), "uniform", prior=WORLD.prior()).report().html()
    assert html.index("What it cannot see") > html.index("What was done")
