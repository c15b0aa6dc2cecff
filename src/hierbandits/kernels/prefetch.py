"""A hint to the processor: this memory is wanted soon."""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from hierbandits.compiler import inlined
from hierbandits.types import Matrix

NODES_AHEAD = 16
"""How many events before its turn a node is asked for."""

_LINE = 8  # floats in a cache line
_MOST = 512  # floats of a block to ask for; the processor foresees the rest


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing: Any, array: Any, index: Any) -> Any:
    """Start to load the cache line of a contiguous array's element, counted flat."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(hint, [place, number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@inlined
def prefetch_node(state: Matrix, node: int) -> None:
    """Start to load a node's block, which comes next: tasks are far apart in memory."""
    size = state.shape[1] * state.shape[2]
    for k in range(0, min(size, _MOST), _LINE):
        prefetch(state, node * size + k)
    prefetch(state, node * size + min(size, _MOST) - 1)  # blocks need not begin with a line
