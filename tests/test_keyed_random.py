"""Keyed random numbers: functions of their key, and as random as they should be."""

import numpy as np
import pytest
from scipy import stats

from hierbandits.keyed_random import Stream, mix, seed_words


def _grid(runs, tasks, interactions):
    run, task, interaction = np.meshgrid(
        np.arange(runs), np.arange(tasks), np.arange(interactions), indexing="ij"
    )
    return run.ravel(), task.ravel(), interaction.ravel()


def test_a_number_is_a_function_of_its_key_alone():
    stream = Stream(3, "reward")
    keys = _grid(4, 3, 5)
    whole = stream.uniforms(keys, 2)
    some = np.array([7, 3, 50, 7])
    part = stream.uniforms(tuple(part[some] for part in keys), 2)
    np.testing.assert_array_equal(part, whole[some])
    assert len(np.unique(whole)) == whole.size
    assert not np.array_equal(whole, Stream(4, "reward").uniforms(keys, 2))
    assert not np.array_equal(whole, Stream(3 + 2**31, "reward").uniforms(keys, 2))
    assert not np.array_equal(whole, Stream(3 + 2**64, "reward").uniforms(keys, 2))
    assert not np.array_equal(whole, Stream(3, "actions").uniforms(keys, 2))


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


def test_the_bits_are_those_of_splitmix64():
    """The first numbers of the published generator from the state 1234567."""
    golden, state = 0x9E3779B97F4A7C15, 1234567
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    for number in expected:
        state = (state + golden) % 2**64
        assert int(mix(np.uint64(state))) == number


def test_more_numbers_of_an_event_begin_with_the_same():
    stream, keys = Stream(5, "z"), _grid(2, 3, 2)
    np.testing.assert_array_equal(stream.uniforms(keys, 7)[:, :3], stream.uniforms(keys, 3))
    np.testing.assert_array_equal(stream.normals(keys, 4)[:, :2], stream.normals(keys, 2))
    assert stream.uniforms(_grid(0, 1, 1), 3).shape == (0, 3)


def test_rows_of_a_log_have_a_number_each():
    stream, rows = Stream(2, "fold"), np.arange(5000)
    numbers = stream.of_rows(rows)
    np.testing.assert_array_equal(stream.of_rows(rows[::-7]), numbers[::-7])
    assert np.unique(numbers).size == rows.size
    assert stats.kstest(numbers, "uniform").pvalue > 1e-4
    assert not np.array_equal(Stream(2, "coin").of_rows(rows), numbers)


def test_numbers_are_the_same_in_every_version():
    """Results of studies rest on them."""
    uniforms = Stream(7, "reward").uniforms(_grid(1, 2, 2), 2)
    normals = Stream(7, "reward").normals(_grid(1, 1, 1), 2)
    expected = [
        [0.16548171564158026, 0.5893628228240602],
        [0.6719134361677122, 0.8852206578388775],
        [0.6200586579091327, 0.9240699110099826],
        [0.5957267053357751, 0.14610163484115207],
    ]
    np.testing.assert_array_equal(uniforms, expected)
    np.testing.assert_allclose(normals, [[-1.6055637148302018, -1.6174577295760615]], rtol=1e-14)


def test_large_seeds_do_not_collide():
    """numpy cuts them into words, which those of another seed and its parts could be."""
    seeds = [5, 2**32 - 1, 2**32, 2**32 + 5, 5 << 32, 2**40, 2**64 + 5, 2**64 + 2**32, 2**96 + 5]
    parts = [(0, 0), (1, 0), (0, 1), (1, 7), (7, 0)]
    pools = {
        tuple(np.random.SeedSequence(seed_words(seed, *more)).generate_state(4))
        for seed in seeds
        for more in parts
    }
    assert len(pools) == len(seeds) * len(parts)
    # Those that met before: seed 2^32 + 5 in chunk 7 was seed 5 in chunk 1.
    words = [seed_words(2**32 + 5, 7, 0), seed_words(5, 1, 7)]
    one, other = (np.random.SeedSequence(word).generate_state(4).tolist() for word in words)
    assert one != other
    assert seed_words(5, 1, 7) == [5, 1, 7]  # published numbers rest on these
    keys = _grid(1, 2, 2)
    numbers = {Stream(seed, "reward").uniforms(keys, 1)[0, 0] for seed in seeds}
    assert len(numbers) == len(seeds)


def test_keys_are_rows_of_integers():
    rows = np.arange(3)
    for keys in (
        (rows, rows, rows[:2]),
        (rows[:2], rows, rows),
        (rows, rows.astype(float), rows),
        (rows[:, None], rows[:, None], rows[:, None]),
    ):
        with pytest.raises(ValueError, match="keys must be rows of integers, equally long"):
            Stream(0, "reward").uniforms(keys, 2)
