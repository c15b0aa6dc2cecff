"""The arms of linear bandits: action sets drawn once for a run or a task, or in every round."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.random import Generator

from hierbandits.checks import count, instance, one_of, positive, real_array
from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector

SetShape: TypeAlias = Literal["box", "ball"]
Per: TypeAlias = Literal["run", "task", "round"]


@dataclass(frozen=True, slots=True)
class ActionSets:
    """`num_arms` vectors, uniform in the box [-size, size]^d or in the ball of radius `size`.

    One set serves a whole run or a whole task, or every event has its own: `per` says which.
    """

    num_arms: int = 10
    shape: SetShape = "box"
    size: float = 0.5
    per: Per = "run"

    def __post_init__(self) -> None:
        one_of("shape", self.shape, get_args(SetShape))
        one_of("per", self.per, get_args(Per))
        count("num_arms", self.num_arms, least=1)
        positive("size", self.size, ())

    def max_norm(self, dim: int) -> float:
        """The largest norm that an arm can have."""
        return float(self.size * (np.sqrt(dim) if self.shape == "box" else 1.0))

    def fixed_sets(self, rng: Generator, runs: int, num_tasks: int, dim: int) -> Matrix:
        """The sets of each run, or of each task of each run, (sets, K, d)."""
        sets = runs * (num_tasks if self.per == "task" else 1)
        numbers = rng.random((sets * self.num_arms, dim))
        lengths = rng.random((sets * self.num_arms, 1))
        directions = rng.standard_normal((sets * self.num_arms, dim))
        return self._shaped(numbers, lengths, directions).reshape(sets, self.num_arms, dim)

    def fresh_sets(self, stream: Stream, events: Events, dim: int) -> Arms:
        """A new set for each event, a function of the stream and the event alone."""
        rows = instance("events", events, Events).run.size * self.num_arms
        numbers = stream.uniforms(events, self.num_arms * (dim + 1)).reshape(rows, dim + 1)
        directions = numbers[:, 1:]
        if self.shape == "ball":
            apart = Stream(stream.seed, f"{stream.purpose}, directions")
            directions = apart.normals(events, self.num_arms * dim).reshape(rows, dim)
        table = self._shaped(numbers[:, 1:], numbers[:, :1], directions)
        sets = table.reshape(events.run.size, self.num_arms, dim)
        return Arms.grouped(sets, np.arange(events.run.size))

    def _shaped(self, numbers: Matrix, lengths: Matrix, directions: Matrix) -> Matrix:
        """Arms, (n, d): from uniform `numbers` if in a box, else from lengths and directions."""
        if self.shape == "box":
            return self.size * (2 * numbers - 1)
        unit = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
        ball: Matrix = self.size * lengths ** (1 / numbers.shape[-1]) * unit
        return ball


@dataclass(frozen=True, slots=True, eq=False)
class SampledActions:
    """`num_arms` rows of a table of features, drawn with replacement: arms like those of a log.

    One set serves a whole run or a whole task, or every event has its own: `per` says which.
    """

    table: Matrix  # (rows, d)
    num_arms: int = 10
    per: Per = "round"

    def __post_init__(self) -> None:
        one_of("per", self.per, get_args(Per))
        count("num_arms", self.num_arms, least=1)
        table = real_array("table", self.table, (None, None))
        if len(table) == 0:
            raise ValueError("table must have at least one row, got none")
        object.__setattr__(self, "table", table.copy())

    def max_norm(self, dim: int) -> float:
        """The largest norm that an arm can have."""
        return float(np.linalg.norm(self.table, axis=1).max())

    def fixed_sets(self, rng: Generator, runs: int, num_tasks: int, dim: int) -> Matrix:
        """The sets of each run, or of each task of each run, (sets, K, d)."""
        sets = runs * (num_tasks if self.per == "task" else 1)
        return self.table[self._rows(rng.random((sets, self.num_arms)))]

    def fresh_sets(self, stream: Stream, events: Events, dim: int) -> Arms:
        """A new set for each event, a function of the stream and the event alone.

        No features are copied, and the number of an arm is its row in the table.
        """
        instance("events", events, Events)
        rows = self._rows(stream.uniforms(events, self.num_arms))
        return Arms._raw_of_rows(self.table, rows.ravel(), np.full(len(rows), self.num_arms))

    def _rows(self, numbers: Vector) -> Indices:
        """Rows of the table from uniform numbers in (0, 1)."""
        return (numbers * len(self.table)).astype(np.intp)
