"""Standard normals that are drawn ahead: a call of a generator costs as much as fifty of them."""

import numpy as np
from numpy.random import Generator

from hierbandits.types import Vector

BLOCK = 2048
"""How many normals are drawn at once."""


class NormalStock:
    """A generator's normals in a block, of which single decisions take what they need."""

    __slots__ = ("block", "rng", "size", "used")

    def __init__(self, rng: Generator) -> None:
        self.rng = rng
        self.put(np.empty(0))

    def put(self, block: Vector) -> None:
        """Take these normals from now on."""
        self.block, self.size = block, block.size
        self.used = 0  # the first so many of the block

    def refill(self, number: int) -> int:
        """Draw a new block of at least so many; returns where it begins.

        What is left of the old one is thrown away.
        """
        self.put(self.rng.standard_normal(max(BLOCK, number)))
        return 0

    def take(self, number: int) -> int:
        """Use up so many normals of the block; returns where they begin."""
        first = self.used
        if first + number > self.size:
            first = self.refill(number)
        self.used = first + number
        return first

    def left(self) -> Vector:
        """Those that are left, for a file."""
        return self.block[self.used :]
