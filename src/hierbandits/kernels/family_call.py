"""How a kernel calls the functions of a reward family: by their addresses.

So one kernel serves all families, those that users write included, and is compiled once.
"""

from typing import Any, NewType

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

FamilyCode = NewType("FamilyCode", tuple[int, int, int])
"""The addresses of a family's log density, slope and curvature; see `RewardFamily.code`.

Each is a function of a reward, its exposure, the family's shape and the linear predictor.
"""


@intrinsic  # type: ignore[untyped-decorator]
def call_family(typing: Any, address: Any, reward: Any, exposure: Any, shape: Any, eta: Any) -> Any:
    """The value of the function at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number] * 4).as_pointer()
        return builder.call(builder.inttoptr(args[0], kind), args[1:])

    number = types.float64
    return number(types.int64, number, number, number, number), generate
