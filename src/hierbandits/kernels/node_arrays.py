"""What kernels know of a forest of nodes, as one argument."""

from typing import NewType

from hierbandits.types import Indices, Mask, Matrix, Vector

NodeArrays = NewType("NodeArrays", tuple[Indices, Indices, Mask, Matrix, Vector, Matrix, Matrix])
"""The arrays `parent, level, is_plain, maps, noise_var, state, roots`; `Nodes.arrays` makes them.

A plain tuple, because a call with it costs 0.5 microseconds and one with a NamedTuple 1.2.

- parent: a node's parent, or for a root ~population
- level: a node's row of the next three
- is_plain: whether the coordinates of a level are plain: T is the identity
- maps: T and G of a level, and unless they are diagonals T' and G'; see `Levels`
- noise_var: the variance of the noise of rewards
- state: a node's posterior given its parent's parameter, in the coordinates of T
- roots: a population's posterior of its root parameter, in plain coordinates

Of a block of `state` or `roots` the last row is a mean, and the rows above it a square root of a
covariance.  With diagonal covariances all matrices are diagonals: a block has two rows.
"""
