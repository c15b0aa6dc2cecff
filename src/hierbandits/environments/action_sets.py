"""The action sets of linear bandits: drawn once for a run or a task, or anew for every round."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from hierbandits.checks import count, positive, real_array
from hierbandits.keyed_random import Events, Stream
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Matrix, Vector


@dataclass(frozen=True, slots=True)
class ActionSets:
    """`num_arms` vectors, uniform in the box [-size, size]^d or in the ball of radius `size`."""

    num_arms: int = 10
    shape: Literal["box", "ball"] = "box"
    size: float = 0.5
    per: Literal["run", "task", "round"] = "run"

    def __post_init__(self) -> None:
        for name, value, known in (
            ("shape", self.shape, ("box", "ball")),
            ("per", self.per, ("run", "task", "round")),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        count("num_arms", self.num_arms, least=1)
        positive("size", self.size, ())

    def max_norm(self, dim: int) -> float:
        """The largest norm that an arm can have."""
        return float(self.size * (np.sqrt(dim) if self.shape == "box" else 1.0))

    def drawn(self, rng: Generator, runs: int, num_tasks: int, dim: int) -> Matrix:
        """The sets of each run, or of each task of each run, (sets, K, d)."""
        sets = runs * (num_tasks if self.per == "task" else 1)
        numbers = rng.random((sets * self.num_arms, dim))
        lengths = rng.random((sets * self.num_arms, 1))
        directions = rng.standard_normal((sets * self.num_arms, dim))
        return self._shaped(numbers, lengths, directions).reshape(sets, self.num_arms, dim)

    def fresh(self, stream: Stream, events: Events, dim: int) -> Arms:
        """New sets for these events, the same whoever asks."""
        rows = events.run.size * self.num_arms
        numbers = stream.uniforms(events, self.num_arms * (dim + 1)).reshape(rows, dim + 1)
        directions = numbers[:, 1:]
        if self.shape == "ball":
            apart = Stream(stream.seed, f"{stream.purpose}, directions")
            directions = apart.normals(events, self.num_arms * dim).reshape(rows, dim)
        table = self._shaped(numbers[:, 1:], numbers[:, :1], directions)
        sets = table.reshape(events.run.size, self.num_arms, dim)
        return Arms.grouped(sets, np.arange(events.run.size))

    def _shaped(self, numbers: Matrix, lengths: Matrix, directions: Matrix) -> Matrix:
        if self.shape == "box":
            return self.size * (2 * numbers - 1)
        unit = directions / np.linalg.norm(directions, axis=-1, keepdims=True)
        ball: Matrix = self.size * lengths ** (1 / numbers.shape[-1]) * unit
        return ball


@dataclass(frozen=True, slots=True, eq=False)
class SampledActions:
    """`num_arms` rows of a table of features, drawn with replacement: arms as a log has them."""

    table: Matrix  # (rows, d)
    num_arms: int = 10
    per: Literal["run", "task", "round"] = "round"

    def __post_init__(self) -> None:
        if self.per not in ("run", "task", "round"):
            raise ValueError(f"per must be one of run, task, round, got {self.per!r}")
        count("num_arms", self.num_arms, least=1)
        table = real_array("table", self.table, (None, None))
        if len(table) == 0:
            raise ValueError("table must have at least one row, got none")
        object.__setattr__(self, "table", table)

    def max_norm(self, dim: int) -> float:
        """The largest norm that an arm can have."""
        return float(np.linalg.norm(self.table, axis=1).max())

    def drawn(self, rng: Generator, runs: int, num_tasks: int, dim: int) -> Matrix:
        """The sets of each run, or of each task of each run, (sets, K, d)."""
        sets = runs * (num_tasks if self.per == "task" else 1)
        return self.table[self._rows(rng.random((sets, self.num_arms)))]

    def fresh(self, stream: Stream, events: Events, dim: int) -> Arms:
        """New sets for these events, the same whoever asks, as rows of the one table."""
        rows = self._rows(stream.uniforms(events, self.num_arms))
        offset = np.arange(len(rows) + 1) * self.num_arms
        return Arms(
            self.table, rows.ravel(), offset[:-1].copy(), offset, np.zeros(len(rows), np.intp)
        )

    def _rows(self, numbers: Vector) -> Indices:
        return (numbers * len(self.table)).astype(np.intp)
