"""What one reward tells of its linear predictor, looked up in a table.

The linear predictor is eta ~ N(m, q), and Z_y is the mean of p(y | eta).  The derivatives of log Z
by m tell all: eta has the mean m + q (log Z)' given the reward, and the variance q + q^2 (log Z)''.

Where log p(y | eta) is y eta and a function of eta, one table serves all rewards: exp(y eta) moves
a Gaussian's mean, so that log Z_y(m, q) = y m + y^2 q / 2 + log Z_0(m + y q, q).

The table has log Z_0 as polynomials in m and q, one for each of many cells.  Cells have a length of
CELL in m.  In q they are longer the larger it is, and shorter where the density bends more.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import carray, types
from numba.extending import intrinsic
from numpy.polynomial import chebyshev

from hierbandits.compiler import inlined
from hierbandits.kernels.node_address import pointer
from hierbandits.types import Matrix, Vector

LOWEST, HIGHEST, CELL = -10.0, 10.0, 0.5
"""The means in the table, and the length of a cell."""

WIDEST = 1.875
"""The largest variance in the table, where the density bends by 1 or less."""

_BEND = 64.0
"""The largest curvature: at means where it is larger there are no cells."""

_MEANS, _VARS = 8, 6  # coefficients of a polynomial, by power of m and of q
_FIRST, _OCTAVES, _BITS = 0.125, 4, 2  # q + _FIRST: so many times twice as much, in 2^_BITS cells
_CELLS = _OCTAVES << _BITS
_SIZE = _MEANS * _VARS
_LINE = 8  # numbers of a cache line
_HEAD = 48
"""Numbers before the cells: how many there are by mean, and the scale of q in each."""

_FRACTION = 52 - _BITS
_OFFSET = int(np.float64(_FIRST).view(np.int64)) >> _FRACTION
_MASK, _UNIT = (1 << _FRACTION) - 1, 2.0 ** (1 - _FRACTION)

_NODES = np.arange(-16.0, 10.0, 0.4)  # in standard deviations; a small reward moves eta down
_WEIGHTS = np.exp(-(_NODES**2) / 2) * 0.4 / np.sqrt(2 * np.pi)

Moments = tuple[bool, float, float, float]
"""Whether they are in the table; log Z, its slope by m, and its curvature with the sign changed."""


def moment_table(none: Callable[[Matrix], Matrix], bend: Callable[[Vector], Vector]) -> Vector:
    """The table of a family.

    `none` is the density of a reward of 0, and `bend` the negative second derivative of its log.
    """
    edges = LOWEST + CELL * np.arange(1 + int((HIGHEST - LOWEST) / CELL))
    bends = bend(edges)
    scale = np.maximum(1.0, np.maximum(bends[1:], bends[:-1]))
    number = int(np.argmax(scale > _BEND)) if (scale > _BEND).any() else scale.size
    along, to_means = _points(_MEANS)
    across, to_vars = _points(_VARS)
    octave = _FIRST * 2.0 ** (np.arange(_CELLS) >> _BITS)
    start = octave * (1 + (np.arange(_CELLS) % 2**_BITS) / 2**_BITS)
    var = (start + (octave / 2**_BITS) * (across[:, None] + 1) / 2).T - _FIRST  # (cells, _VARS)
    cells = []
    for low, divisor in zip(edges[:number], scale[:number], strict=True):
        mean = low + CELL * (along + 1) / 2
        eta = mean + np.multiply.outer(_NODES, np.sqrt(var / divisor))[..., None]
        log_z = np.log(np.tensordot(_WEIGHTS, none(eta), 1))  # (cells, _VARS, _MEANS)
        cells.append(to_vars @ log_z @ to_means.T)
    room = np.zeros(_LINE + _HEAD + number * _CELLS * _SIZE)
    table: Vector = room[-(room.ctypes.data // 8) % _LINE :]  # a cell's rows are a cache line each
    table[0], table[1 : 1 + number] = number, scale[:number]
    table[_HEAD : _HEAD + number * _CELLS * _SIZE] = np.ravel(cells)
    return table


def _points(number: int) -> tuple[Vector, Matrix]:
    """Chebyshev's points in [-1, 1], and the matrix that makes coefficients of values there."""
    points: Vector = chebyshev.chebpts1(number)
    by_power = np.zeros((number, number))
    for k in range(number):
        by_power[: k + 1, k] = chebyshev.cheb2poly(np.eye(number)[k][: k + 1])
    return points, by_power @ np.linalg.inv(chebyshev.chebvander(points, number - 1))


@intrinsic  # type: ignore[untyped-decorator]
def _bits(typing: Any, number: Any) -> Any:
    """The bits of a number, as an integer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _polynomial(typing: Any, address: Any, u: Any, t: Any) -> Any:
    """The polynomial of the cell at an address, and its first two derivatives by u.

    The powers of u are one vector, and so are the coefficients of each power of t.  Where the
    processor has no vectors of so many numbers, the compiler takes two.
    """
    flags = ("contract", "reassoc", "nsz")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, word = ir.DoubleType(), ir.IntType(32)
        kind, places = ir.VectorType(number, _MEANS), ir.VectorType(word, _MEANS)
        times, plus = partial(builder.fmul, flags=flags), partial(builder.fadd, flags=flags)
        nothing, powers = ir.Constant(kind, ir.Undefined), np.arange(_MEANS)

        def constant(values: Any) -> Any:
            return ir.Constant(kind, [ir.Constant(number, float(value)) for value in values])

        def picked(x: Any, y: Any, which: Any) -> Any:
            order = ir.Constant(places, [ir.Constant(word, int(k)) for k in which])
            return builder.shuffle_vector(x, y, order)

        def everywhere(x: Any) -> Any:
            one = builder.insert_element(nothing, x, word(0))
            return picked(one, nothing, 0 * powers)

        place = builder.inttoptr(args[0], kind.as_pointer())
        t1 = everywhere(args[2])
        t2 = times(t1, t1)
        t4 = times(t2, t2)
        row = [builder.load(builder.gep(place, [word(k)]), align=8) for k in range(_VARS)]
        pairs = [plus(row[k], times(row[k + 1], t1)) for k in range(0, _VARS, 2)]
        by_power = plus(plus(pairs[0], times(pairs[1], t2)), times(pairs[2], t4))
        power, u, ones = constant(powers**0), args[1], constant(powers**0)
        for digit in (1, 2, 4):  # u^5 = u^1 u^4, and so on
            power = times(power, picked(ones, everywhere(u), np.where(powers & digit, _MEANS, 0)))
            u = times(u, u)
        sums = []
        for order in range(3):
            factor = np.prod([powers - i for i in range(order)], axis=0) * np.ones(_MEANS)
            lower = picked(power, nothing, np.maximum(powers - order, 0))
            sums.append(times(times(constant(factor), lower), by_power))
        # Of two vectors the sums of neighbours are one vector, and so on: quicker than three sums.
        halves = powers // 2 * 2 + powers % 2 * _MEANS
        even, odd = picked(sums[0], sums[1], halves), picked(sums[0], sums[1], halves + 1)
        both = plus(even, odd)  # of the value and the first derivative in turn
        last = plus(sums[2], picked(sums[2], nothing, powers ^ 1))
        for step in (4, 2):
            both = plus(both, picked(both, nothing, powers ^ step))
            last = plus(last, picked(last, nothing, powers ^ step))
        ends = (both, 0), (both, 1), (last, 0)
        values = [builder.extract_element(vector, word(lane)) for vector, lane in ends]
        return context.make_tuple(builder, signature.return_type, values)

    number = types.float64
    return types.UniTuple(number, 3)(types.int64, number, number), generate


@inlined
def tabled_moments(address: int, reward: float, mean: float, var: float) -> Moments:
    """Those of a reward of exposure 1, by the table at an address."""
    table = carray(pointer(address), (_HEAD + _SIZE,), np.float64)
    place = (mean + reward * var - LOWEST) * (1.0 / CELL)
    if not 0.0 <= place < table[0]:
        return False, 0.0, 0.0, 0.0
    i = int(place)
    bits = _bits(var * table[1 + i] + _FIRST)
    j = (bits >> _FRACTION) - _OFFSET
    if not 0 <= j < _CELLS:
        return False, 0.0, 0.0, 0.0
    t = float(bits & _MASK) * _UNIT - 1.0
    u = 2.0 * (place - i) - 1.0
    at = address + 8 * (_HEAD + (i * _CELLS + j) * _SIZE)
    value, first, second = _polynomial(at, u, t)
    log_z = value + reward * (mean + 0.5 * reward * var)
    return True, log_z, reward + first * (2.0 / CELL), -second * (4.0 / (CELL * CELL))
