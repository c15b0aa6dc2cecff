"""Keyed random numbers: functions of their key, and as random as they should be."""

import numpy as np
import pytest
from scipy import stats

from hierbandits.keyed_random import Events, Stream


def _grid(runs, tasks, interactions):
    run, task, interaction = np.meshgrid(
        np.arange(runs), np.arange(tasks), np.arange(interactions), indexing="ij"
    )
    return Events(run.ravel(), task.ravel(), interaction.ravel())


def test_a_number_is_a_function_of_its_key_alone():
    stream = Stream(3, "reward")
    events = _grid(4, 3, 5)
    whole = stream.uniforms(events, 2)
    some = np.array([7, 3, 50, 7])
    part = stream.uniforms(Events(*(getattr(events, n)[some] for n in Events.__slots__)), 2)
    np.testing.assert_array_equal(part, whole[some])
    assert len(np.unique(whole)) == whole.size
    assert not np.array_equal(whole, Stream(4, "reward").uniforms(events, 2))
    assert not np.array_equal(whole, Stream(3 + 2**31, "reward").uniforms(events, 2))
    assert not np.array_equal(whole, Stream(3 + 2**64, "reward").uniforms(events, 2))
    assert not np.array_equal(whole, Stream(3, "actions").uniforms(events, 2))


@pytest.mark.parametrize("axis", range(4))
def test_numbers_are_uniform_and_neighbours_independent(axis):
    shape = (40, 25, 50, 4)
    numbers = Stream(0, "x").uniforms(_grid(*shape[:3]), 4).reshape(shape)
    assert numbers.min() > 0
    assert numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-4
    first = np.take(numbers, range(shape[axis] - 1), axis).ravel()
    second = np.take(numbers, range(1, shape[axis]), axis).ravel()
    cells = np.histogram2d(first, second, bins=16)[0]
    assert stats.chi2_contingency(cells).pvalue > 1e-4


def test_normals_are_normal():
    numbers = Stream(1, "y").normals(_grid(50, 20, 50), 3)
    assert stats.kstest(numbers.ravel(), "norm").pvalue > 1e-4
    correlation = np.corrcoef(numbers.T) - np.eye(3)
    assert np.abs(correlation).max() < 6 / np.sqrt(len(numbers))
