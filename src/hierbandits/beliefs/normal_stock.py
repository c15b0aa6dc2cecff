"""Standard normals that are drawn ahead: a call of a generator costs as much as fifty of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from hierbandits.types import Vector

BLOCK = 2048
"""How many normals are drawn at once."""


class NormalStock:
    """A generator's normals in a block, of which single decisions take what they need.

    What was taken since `begin` can be put back, whoever took it: `rng` remembers the generator's
    state, and the block, before it is first asked for.
    """

    __slots__ = ("_rng", "block", "kept", "mark", "size", "used")

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self.used = 0  # the first so many of the block
        self.put(np.empty(0))
        self.begin()

    def begin(self) -> None:
        """From now on, remember what is taken."""
        self.kept: tuple[Mapping[str, Any], Vector] | None = None
        self.mark = self.used

    def put_back(self) -> None:
        """Give back all that was taken since `begin`; twice is as once."""
        if self.kept is not None:
            state, block = self.kept
            self._rng.bit_generator.state = state
            self.block, self.size = block, block.size
        self.used = self.mark

    @property
    def rng(self) -> Generator:
        """The generator itself."""
        if self.kept is None:
            self.kept = self._rng.bit_generator.state, self.block
        return self._rng

    def put(self, block: Vector) -> None:
        """Take these normals from now on."""
        self.block, self.size, self.used = block, block.size, 0

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
