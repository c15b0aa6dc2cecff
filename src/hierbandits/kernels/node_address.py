"""Where the arrays of nodes lie in memory, for kernels that take one event at a time.

To take six arrays from Python costs a kernel half a microsecond, more than the sums of an event
cost it.  To take one number costs next to nothing.
"""

from typing import Any, NewType

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from hierbandits.compiler import inlined
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Indices

NodeAddress = NewType("NodeAddress", int)
"""The address of an `address_table`.  It is good for as long as that table and the arrays are."""


def address_table(nodes: NodeArrays) -> Indices:
    """The address of each array, then the numbers of nodes, levels, populations and features."""
    parent, level, assumed, _, _, roots = nodes
    assert parent.dtype == level.dtype == np.int32  # an address says nothing of its array
    assert all(array.flags.carray for array in nodes)
    sizes = len(parent), len(assumed), len(roots), roots.shape[2]
    return np.array([*(array.ctypes.data for array in nodes), *sizes], np.int64)


@intrinsic  # type: ignore[untyped-decorator]
def pointer(typing: Any, address: Any) -> Any:
    """What lies at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.voidptr(types.int64), generate


@inlined
def dense_nodes(address: NodeAddress) -> NodeArrays:
    """The arrays of nodes with full covariances."""
    at = carray(pointer(address), (10,), np.int64)
    nodes, levels, populations, d = at[6], at[7], at[8], at[9]
    return (  # type: ignore[return-value]  # NodeArrays(...) cannot be compiled
        carray(pointer(at[0]), (nodes,), np.int32),
        carray(pointer(at[1]), (nodes,), np.int32),
        carray(pointer(at[2]), (levels, 2), np.float64),
        carray(pointer(at[3]), (levels, 4, d, d), np.float64),
        carray(pointer(at[4]), (nodes, d + 1, d), np.float64),
        carray(pointer(at[5]), (populations, d + 1, d), np.float64),
    )


@inlined
def common_nodes(address: NodeAddress) -> NodeArrays:
    """The arrays of nodes whose arms have a part in common."""
    at = carray(pointer(address), (10,), np.int64)
    nodes, levels, populations, arms = at[6], at[7], at[8], at[9]
    return (  # type: ignore[return-value]  # NodeArrays(...) cannot be compiled
        carray(pointer(at[0]), (nodes,), np.int32),
        carray(pointer(at[1]), (nodes,), np.int32),
        carray(pointer(at[2]), (levels, 2), np.float64),
        carray(pointer(at[3]), (levels, 2, arms + 1), np.float64),
        carray(pointer(at[4]), (nodes, 3, arms + 1), np.float64),
        carray(pointer(at[5]), (populations, arms + 1, arms), np.float64),
    )


@inlined
def diagonal_nodes(address: NodeAddress) -> NodeArrays:
    """The arrays of nodes with diagonal covariances."""
    at = carray(pointer(address), (10,), np.int64)
    nodes, levels, populations, arms = at[6], at[7], at[8], at[9]
    return (  # type: ignore[return-value]  # NodeArrays(...) cannot be compiled
        carray(pointer(at[0]), (nodes,), np.int32),
        carray(pointer(at[1]), (nodes,), np.int32),
        carray(pointer(at[2]), (levels, 2), np.float64),
        carray(pointer(at[3]), (levels, 2, arms), np.float64),
        carray(pointer(at[4]), (nodes, 2, arms), np.float64),
        carray(pointer(at[5]), (populations, 2, arms), np.float64),
    )
