"""Normals that are drawn ahead."""

import numpy as np

from hierbandits.beliefs.normal_stock import BLOCK, NormalStock


def test_blocks_are_the_generators_normals():
    stock, rng = NormalStock(np.random.default_rng(3)), np.random.default_rng(3)
    assert (stock.size, stock.left().size) == (0, 0)
    assert stock.refill(5) == 0
    np.testing.assert_array_equal(stock.block, rng.standard_normal(BLOCK))
    stock.used += 7
    np.testing.assert_array_equal(stock.left(), stock.block[7:])
    stock.refill(BLOCK + 1)  # more than a block at once
    assert (stock.size, stock.used) == (BLOCK + 1, 0)
    np.testing.assert_array_equal(stock.block, rng.standard_normal(BLOCK + 1))


def test_what_was_left_can_be_put_back():
    stock, again = NormalStock(np.random.default_rng(0)), NormalStock(np.random.default_rng(0))
    stock.refill(1)
    stock.used = 2000
    again.put(stock.left().copy())
    assert (again.size, again.used) == (BLOCK - 2000, 0)
    np.testing.assert_array_equal(again.left(), stock.left())


def test_what_was_taken_since_the_beginning_is_put_back():
    stock, rng = NormalStock(np.random.default_rng(0)), np.random.default_rng(0)
    block = rng.standard_normal(BLOCK)
    stock.take(5)
    stock.begin()
    stock.take(2)
    stock.put_back()
    assert stock.used == 5
    stock.take(BLOCK - 6)
    stock.take(10)  # of a new block
    stock.rng.random()
    for _ in range(2):  # twice is as once
        stock.put_back()
        np.testing.assert_array_equal(stock.left(), block[5:])
    assert stock.rng.random() == rng.random()
    stock.begin()
    before = stock.rng.bit_generator.state
    stock.refill(1)
    stock.put_back()
    assert stock.rng.bit_generator.state == before
