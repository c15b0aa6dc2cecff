"""The data in the box."""

import numpy as np
import pytest

from hierbandits.datasets import warfarin


def test_warfarin_counts_are_those_of_the_cohort():
    data = warfarin()
    assert data.doses == ("low", "medium", "high")
    assert data.sites == tuple(str(site) for site in range(1, 23))
    assert data.counts.shape == (22, 3)
    assert data.counts.sum() == 6037
    assert data.counts[2].tolist() == [448, 371, 9]
    with pytest.raises(ValueError, match="read-only"):
        data.counts[0, 0] = 1
    for word in ("International Warfarin Pharmacogenetics Consortium", "PharmGKB", "CC BY-SA 4.0"):
        assert word in data.attribution


def test_a_log_has_one_fair_row_for_each_patient():
    data = warfarin()
    log = data.as_log(np.random.default_rng(0))
    past = log.sums()
    assert past.num_rows == 6037
    assert past.arms == data.doses
    order = [data.sites.index(site) for site in past.tasks]
    np.testing.assert_array_equal(past.sums.n, data.counts.sum(axis=1)[order])
    (batch,) = log.batches()
    assert set(batch.rewards.tolist()) == {0.0, 1.0}
    assert set(batch.propensities.tolist()) == {1 / 3}
    trials, hits = past.sums.xx, past.sums.xy
    rate = (data.counts / data.counts.sum(axis=1, keepdims=True))[order]
    error = np.sqrt(np.maximum(rate * (1 - rate), 1e-3) / trials)
    assert (np.abs(hits / trials - rate) < 5 * error).all()
    share = trials.sum(axis=0) / 6037
    assert (np.abs(share - 1 / 3) < 5 * np.sqrt(2 / 9 / 6037)).all()


def test_a_log_is_its_generators_alone():
    data = warfarin()

    def rewards(seed):
        (batch,) = data.as_log(np.random.default_rng(seed)).batches()
        return batch.rewards

    np.testing.assert_array_equal(rewards(1), rewards(1))
    assert (rewards(1) != rewards(2)).any()
