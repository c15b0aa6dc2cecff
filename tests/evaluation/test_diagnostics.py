"""Whether weights can be trusted."""

import numpy as np
import scipy.stats
from numpy.testing import assert_allclose
from support.logged import World

from hierbandits.evaluation.diagnostics import Diagnostics
from hierbandits.evaluation.weighing import weigh
from hierbandits.logs import Split, Survey
from hierbandits.policies.frozen_rules import evenly


def _tally(frame, world):
    survey = Survey.of(world.log(frame, eligible="eligible"))
    policies = {"uniform": {0: evenly}}
    return weigh(survey, Split.none(), policies, {}, lambda rows: None)["uniform"]


def test_weights_are_summed_up():
    world = World.drawn(np.random.default_rng(0))
    frame = world.rows(np.random.default_rng(1), 200, barred=0.4)
    weight = 1 / frame["eligible"].list.len().to_numpy() / frame["p"].to_numpy()
    diagnosis = Diagnostics.of(_tally(frame, world), np.ones((6, 3)), 0.9)
    error = weight.std(ddof=1) / np.sqrt(200)
    assert diagnosis.rows == 200
    assert_allclose(diagnosis.effective_rows, weight.sum() ** 2 / (weight**2).sum())
    assert diagnosis.largest_weight == weight.max()
    assert_allclose([diagnosis.mean_weight, diagnosis.mean_weight_error], [weight.mean(), error])
    ends = weight.mean() + scipy.stats.norm.ppf(0.95) * error * np.array([-1, 1])
    assert_allclose([diagnosis.mean_weight_low, diagnosis.mean_weight_high], ends)
    assert (diagnosis.unsupported, diagnosis.unsupported_tasks) == (0.0, 0)


def test_choices_that_the_log_never_made_are_counted():
    world = World.drawn(np.random.default_rng(0))
    tally = _tally(world.rows(np.random.default_rng(1), 200, barred=0.4), world)
    plays = np.ones((6, 3))
    plays[2, 1] = 0  # as if the log had never played it there
    diagnosis = Diagnostics.of(tally, plays, 0.95)
    assert_allclose(diagnosis.unsupported, tally.chosen[0][2, 1] / 200)
    assert diagnosis.unsupported_tasks == 1
