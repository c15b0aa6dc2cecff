"""Random numbers keyed by (run, task, interaction), so that policies meet the same luck."""

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from hierbandits.arrays import Indices, Matrix, Vector
from hierbandits.kernels import keyed


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Who acts: the run (of the whole study), the task and its how-manyth interaction, (E,)."""

    run: Indices
    task: Indices
    interaction: Indices


@dataclass(frozen=True, slots=True)
class Stream:
    """One purpose's random numbers: a pure function of the seed, the purpose and the event."""

    seed: int
    purpose: str

    def uniforms(self, events: Events, count: int) -> Matrix:
        """Uniform numbers in (0, 1), (E, count)."""
        out = np.empty((events.run.size, count))
        key = _key(self.seed, self.purpose)
        keyed.uniforms(key, events.run, events.task, events.interaction, out)
        return out

    def of_rows(self, rows: Indices) -> Vector:
        """A uniform number in (0, 1) for each row of a log, by its number alone, (E,)."""
        zeros = np.zeros(rows.size, np.intp)
        numbers: Vector = self.uniforms(Events(rows, zeros, zeros), 1)[:, 0]
        return numbers

    def normals(self, events: Events, count: int) -> Matrix:
        """Standard normals, (E, count)."""
        out = np.empty((events.run.size, count))
        keyed.to_normals(self.uniforms(events, 2 * count), out)
        return out


@lru_cache
def _key(seed: int, purpose: str) -> int:
    """63 bits that any change of the seed or the purpose changes."""
    state = np.random.SeedSequence([seed, crc32(purpose.encode())]).generate_state(1, np.uint64)
    return int(state[0]) >> 1
