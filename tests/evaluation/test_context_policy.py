"""Frozen policies that are asked about every row."""

import numpy as np
from numpy.testing import assert_array_equal
from support.context_worlds import CONTEXT, context_log

from hierbandits.evaluation.context_policy import frozen_by_group
from hierbandits.evaluation.pairs import Pairs
from hierbandits.evaluation.targets import targets_of
from hierbandits.logs import Survey


def test_every_row_is_asked_about_in_its_own_context():
    _, frame, log = context_log(2, count=50, stores=3)
    survey = Survey.of(log)
    seen = []

    def mine(task, arms, context):
        seen.append((task, context))
        return {arms[0 if context["age"] < 40 else 2]: 1.0}

    given = {"mine": mine, "one": "arm:flyer", "even": "uniform"}
    targets = targets_of(given, alpha=1.0, draws=1, seed=0)
    policies = frozen_by_group(targets, survey, (0, 1), {})
    (rows,) = survey.rows()
    pairs = Pairs.of(rows, 3)
    shares = {name: by_group[1](pairs) for name, by_group in policies.items()}
    assert seen == list(
        zip(frame["store"].to_list(), frame.select(CONTEXT).to_dicts(), strict=True)
    )
    old = (frame["age"] >= 40).to_numpy()
    assert_array_equal(shares["mine"], np.where(old[:, None], [[0, 0, 1]], [[1, 0, 0]]))
    assert_array_equal(shares["one"].argmax(1), log.encoder.arms.index("flyer"))
    assert_array_equal(shares["even"], np.full((50, 3), 1 / 3))
