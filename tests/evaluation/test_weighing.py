"""Rows weighed by what frozen policies would have done."""

import numpy as np
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits.evaluation.weighing import weigh
from hierbandits.logs import Split, Survey
from hierbandits.policies.frozen_rules import evenly


def test_every_row_has_the_weight_of_the_policy_over_the_log():
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 200, barred=0.4)
    survey = Survey.of(world.log(frame, eligible="eligible", batch_rows=30))
    seen = []
    tally = weigh(survey, Split.none(), {"uniform": {0: evenly}}, {}, seen.append)["uniform"]
    weight = 1 / frame["eligible"].list.len().to_numpy() / frame["p"].to_numpy()
    pooled = tally.moments.pooled()
    rewards = frame["reward"].to_numpy()
    expected = [weight.mean(), (weight * rewards).mean(), 0.0, rewards.mean()]
    assert_allclose(pooled.mean[0], expected, atol=1e-12)
    assert tally.largest.max() == weight.max()
    assert sum(seen) == 200
