"""The logarithm in plain arithmetic, so that a processor computes several at once."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from hierbandits.compiler import inlined_in_order

_TWO_52 = 4503599627370496.0  # 2^52: a number below it stands in its last bits


@intrinsic  # type: ignore[untyped-decorator]
def _exponent(typing: Any, number: Any) -> Any:
    """2^52 and besides the exponent of a positive number, which is 1023 for 1."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.lshr(builder.bitcast(args[0], word), word(52))
        return builder.bitcast(builder.or_(bits, word(0x4330000000000000)), ir.DoubleType())

    return types.float64(types.float64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _fraction(typing: Any, number: Any) -> Any:
    """The number in [1, 2) that has the same digits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.and_(builder.bitcast(args[0], word), word(0x000FFFFFFFFFFFFF))
        return builder.bitcast(builder.or_(bits, word(0x3FF0000000000000)), ir.DoubleType())

    return types.float64(types.float64), generate


@inlined_in_order
def plain_log(x: float) -> float:
    """log(x) of a positive x that is not smaller than 1e-300, by the series of 2 atanh(z)."""
    k = _exponent(x) - _TWO_52 - 1023.0
    m = _fraction(x)
    is_high = m > 1.4142135623730951
    m = m * 0.5 if is_high else m
    k = k + 1.0 if is_high else k
    z = (m - 1.0) / (m + 1.0)
    w = z * z
    w2 = w * w
    w4 = w2 * w2
    low = (1 / 3 + w * (1 / 5)) + (1 / 7 + w * (1 / 9)) * w2
    mid = (1 / 11 + w * (1 / 13)) + (1 / 15 + w * (1 / 17)) * w2
    p = low + (mid + (1 / 19 + w * (1 / 21)) * w4) * w4
    part = 2.0 * z * (1.0 + w * p)
    total: float = k * 0.6931471803691238 + (part + k * 1.9082149292705877e-10)
    return total
