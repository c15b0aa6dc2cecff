"""How a kernel calls the functions of a reward family: by their addresses.

So one kernel serves all families, those that users write included, and is compiled once.
"""

from collections.abc import Callable
from typing import Any, NewType

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

FamilyCode = NewType("FamilyCode", tuple[int, int, int, int, int, int])
"""The addresses of a family's log densities, slope, curvature, quick moments and moment table.

The last two are 0 if it has none.  Then 1 if its functions may give no number, and 0 if they are
known to give one: where sums give none, what is known has lost all digits.  See
`RewardFamily.code`.
"""

NUMBER = "float64(float64, float64, float64, float64)"
"""A function of a reward, its exposure, the family's shape and the linear predictor."""

NUMBERS = "void(float64, float64, float64, CPointer(float64), CPointer(float64), intp)"
"""The same of several linear predictors: where they lie, where the values go, and how many."""

MOMENTS = "boolean(float64, float64, float64, float64, float64, CPointer(float64))"
"""A function of a reward, its exposure, the shape, and the predictor's mean and variance.

It fills three numbers, and says whether it did.
"""


def nan_number(function: Callable[..., float]) -> Callable[..., float]:
    """A NUMBER that is NaN where this one raises an error."""

    def number(reward: float, exposure: float, shape: float, eta: float) -> float:
        try:
            return function(reward, exposure, shape, eta)
        except Exception:
            return np.nan

    return number


def nan_numbers(function: Callable[..., None]) -> Callable[..., None]:
    """NUMBERS that are NaN where these raise an error."""

    def numbers(
        reward: float, exposure: float, shape: float, eta: Any, out: Any, size: int
    ) -> None:
        try:
            function(reward, exposure, shape, eta, out, size)
        except Exception:
            for i in range(size):
                out[i] = np.nan

    return numbers


def no_moments(function: Callable[..., bool]) -> Callable[..., bool]:
    """MOMENTS that say that they are none where these raise an error."""

    def moments(
        reward: float, exposure: float, shape: float, mean: float, var: float, out: Any
    ) -> bool:
        try:
            return function(reward, exposure, shape, mean, var, out)
        except Exception:
            return False

    return moments


@intrinsic  # type: ignore[untyped-decorator]
def call_family(typing: Any, address: Any, reward: Any, exposure: Any, shape: Any, eta: Any) -> Any:
    """The value of the function at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number] * 4).as_pointer()
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    number = types.float64
    return number(types.int64, number, number, number, number), generate


@intrinsic  # type: ignore[untyped-decorator]
def fill_family(
    typing: Any, address: Any, reward: Any, exposure: Any, shape: Any, eta: Any, out: Any, size: Any
) -> Any:
    """Fill the values of the function at an address for the first numbers of an array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, size = ir.DoubleType(), ir.IntType(64)
        place = number.as_pointer()
        kinds = [number, number, number, place, place, size]
        kind = ir.FunctionType(ir.VoidType(), kinds).as_pointer()
        data = [
            context.make_array(signature.args[i])(context, builder, args[i]).data for i in (4, 5)
        ]
        builder.call(builder.inttoptr(args[0], kind), [*args[1:4], *data, args[6]])
        return context.get_dummy_value()

    number = types.float64
    return types.void(types.int64, number, number, number, eta, out, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def call_moments(
    typing: Any, address: Any, reward: Any, exposure: Any, shape: Any, mean: Any, var: Any
) -> Any:
    """The three numbers of the function at an address, and whether it filled them."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, is_done = ir.DoubleType(), ir.IntType(8)
        with builder.goto_entry_block():  # room on the stack, once for each call of the kernel
            out = builder.alloca(number, 3)
        kind = ir.FunctionType(is_done, [number] * 5 + [number.as_pointer()]).as_pointer()
        done = builder.call(builder.inttoptr(args[0], kind), [*args[1:], out])
        places = (builder.gep(out, [ir.IntType(32)(i)]) for i in range(3))
        values = [*map(builder.load, places), builder.icmp_unsigned("!=", done, is_done(0))]
        return context.make_tuple(builder, signature.return_type, values)

    number = types.float64
    values = types.Tuple([number, number, number, types.boolean])
    return values(types.int64, number, number, number, number, number), generate
