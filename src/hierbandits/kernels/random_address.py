"""Where a random generator's state and functions lie in memory, for kernels that draw from it.

Numba takes a Generator as it is, but calls Python to do so, and an interrupt that comes then ends
the process.  To take one number is safe, and faster.
"""

from ctypes import c_void_p, cast
from typing import Any, NewType

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.random import Generator

from hierbandits.compiler import inlined
from hierbandits.kernels.node_address import pointer
from hierbandits.types import Indices

RandomAddress = NewType("RandomAddress", int)
"""The address of a `random_table`.  It is good for as long as that table and the generator are."""


def random_table(rng: Generator) -> Indices:
    """The addresses of a generator's state and of the functions that draw from it."""
    own = rng.bit_generator.ctypes
    functions = [
        cast(draw, c_void_p) for draw in (own.next_uint64, own.next_uint32, own.next_double)
    ]
    places = [function.value for function in functions]
    return np.array(
        [own.state_address, own.state.value, *places, own.bit_generator.value], np.int64
    )


@intrinsic  # type: ignore[untyped-decorator]
def _generator(
    typing: Any, address: Any, state: Any, next_64: Any, next_32: Any, next_double: Any, bits: Any
) -> Any:
    """A Generator in a kernel, as numba would make it of a Python object; nobody counts it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bit_generator = cgutils.create_struct_proxy(types.npy_bitgen)(context, builder)
        bit_generator.state_address, bit_generator.state = args[0], args[1]
        bit_generator.fnptr_next_uint64 = args[2]
        bit_generator.fnptr_next_uint32 = args[3]
        bit_generator.fnptr_next_double = args[4]
        bit_generator.bit_generator = args[5]
        rng = cgutils.create_struct_proxy(types.npy_rng)(context, builder)
        rng.bit_generator = bit_generator._getvalue()
        return rng._getvalue()

    return types.npy_rng(*[types.int64] * 6), generate


@inlined
def generator_at(address: RandomAddress) -> Generator:
    """The generator whose table is at an address."""
    at = carray(pointer(address), (6,), np.int64)
    return _generator(at[0], at[1], at[2], at[3], at[4], at[5])  # type: ignore[no-any-return]
