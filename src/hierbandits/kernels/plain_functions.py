"""exp and log(1 + x) in plain arithmetic, so that a processor computes several at once.

Both are right to a few units in the last place.  Polynomials are written as sums of pairs, which
need not wait for each other.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from hierbandits.compiler import inlined_in_order

_ROUND = 6755399441055744.0  # 1.5 * 2^52: a sum with it has no digits after the point


@intrinsic  # type: ignore[untyped-decorator]
def _power_of_two(typing: Any, rounded: Any) -> Any:
    """2^k of k + 1023 + _ROUND, whose last bits are those of k + 1023."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.bitcast(args[0], word)
        return builder.bitcast(builder.shl(bits, word(52)), ir.DoubleType())

    return types.float64(types.float64), generate


@inlined_in_order
def plain_exp(x: float) -> float:
    """e^x; x is cut to [-700, 700]."""
    x = min(max(x, -700.0), 700.0)
    rounded = x * 1.4426950408889634 + _ROUND
    k = rounded - _ROUND
    r = (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + (1 / 2 + r * (1 / 6)) * r2
    mid = (1 / 24 + r * (1 / 120)) + (1 / 720 + r * (1 / 5040)) * r2
    high = (1 / 40320 + r * (1 / 362880)) + (1 / 3628800 + r * (1 / 39916800)) * r2
    p = low + (mid + (high + r4 * (1 / 479001600)) * r4) * r4
    power: float = p * _power_of_two(rounded + 1023.0)
    return power


@inlined_in_order
def plain_log1p(x: float) -> float:
    """log(1 + x) of x in [0, 1], by the series of 2 atanh(x / (2 + x))."""
    z = x / (2.0 + x)
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (1 / 3 + w * (1 / 5)) + (1 / 7 + w * (1 / 9)) * w2
    mid = (1 / 11 + w * (1 / 13)) + (1 / 15 + w * (1 / 17)) * w2
    high = (1 / 19 + w * (1 / 21)) + (1 / 23 + w * (1 / 25)) * w2
    p = low + (mid + (high + w4 * (1 / 27 + w * (1 / 29))) * w4) * w4
    return 2.0 * z * (1.0 + w * p)
