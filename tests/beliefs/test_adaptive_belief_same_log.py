"""Populations that learn the same log believe the same."""

import numpy as np
from support.learn_logs import drawn, sums_of
from support.oracle import full

from hierbandits import AdaptiveBelief, TaskSums, UnknownWidths


def test_populations_of_one_log_are_as_one_alone():
    first, second = (sums_of(drawn(seed, armed=True, tasks=6, events=10)) for seed in (1, 2))
    prior = UnknownWidths.of(3, armed=True)
    alone = []
    for sums in (first, second):
        belief = AdaptiveBelief(prior, 6)
        belief._raw_learn_past(np.arange(6), sums)
        alone.append(belief)
    together = AdaptiveBelief(prior, 6, 3)
    log = TaskSums.zeros(18, 3, armed=True)
    for population, sums in enumerate((first, second, first)):
        log._put(np.arange(6) + 6 * population, sums)
    together._raw_learn_past(np.arange(18), log)
    for population, right in enumerate((alone[0], alone[1], alone[0])):
        cov = full(together.hierarchy(population).task_cov)
        np.testing.assert_allclose(cov, full(right.hierarchy().task_cov))
        mean = together.hyper(population).mean
        np.testing.assert_allclose(mean, right.hyper(0).mean, rtol=1e-9)
    assert not np.allclose(alone[0].hyper(0).mean, alone[1].hyper(0).mean)
