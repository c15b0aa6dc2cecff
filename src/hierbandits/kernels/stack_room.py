"""Room for a few numbers on the stack: to make an array costs a kernel more than a short sum."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

ROOM = 64
"""For how many numbers."""


@intrinsic  # type: ignore[untyped-decorator]
def stack_room(typing: Any) -> Any:
    """Where there is room for ROOM numbers, until the calling function returns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():  # once for each call of the kernel
            room = builder.alloca(ir.DoubleType(), ROOM)
        return builder.bitcast(room, context.get_value_type(signature.return_type))

    return types.voidptr(), generate
