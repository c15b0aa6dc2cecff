"""What kernels know of a forest of nodes, as one argument."""

from typing import NewType

from hierbandits.types import Indices, Matrix

NodeArrays = NewType("NodeArrays", tuple[Indices, Indices, Matrix, Matrix, Matrix, Matrix])
"""The arrays `parent, level, assumed, maps, state, roots`; `Nodes.arrays` makes them.

A plain tuple, because a call with it costs 0.5 microseconds and one with a NamedTuple 1.2.

- parent: a node's parent, or for a root ~population
- level: a node's row of the next two
- assumed: the variance of the noise, and whether the coordinates of a level are plain: 1 or 0
- maps: T and G of a level, and unless they are diagonals T' and G'; see `Levels`
- state: a node's posterior given its parent's parameter, in the coordinates of T
- roots: a population's posterior of its root parameter, in plain coordinates

Of a block of `state` or `roots` the last row is a mean, and the rows above it a square root of a
covariance.  With diagonal covariances all matrices are diagonals: a block has two rows.
"""
