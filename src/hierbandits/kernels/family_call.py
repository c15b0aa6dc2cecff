"""How a kernel calls the functions of a reward family: by their addresses.

So one kernel serves all families, those that users write included, and is compiled once.
"""

from typing import Any, NewType

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

FamilyCode = NewType("FamilyCode", tuple[int, int, int])
"""The addresses of a family's log densities, slope and curvature; see `RewardFamily.code`."""

NUMBER = "float64(float64, float64, float64, float64)"
"""A function of a reward, its exposure, the family's shape and the linear predictor."""

NUMBERS = "void(float64, float64, float64, CPointer(float64), CPointer(float64), intp)"
"""The same of several linear predictors: where they lie, where the values go, and how many."""


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
