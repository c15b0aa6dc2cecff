"""Random numbers keyed by (run, task, interaction), so that policies meet the same luck."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from hierbandits.arrays import Indices, Matrix
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
        key = crc32(self.purpose.encode()) + (self.seed << 32)
        keyed.uniforms(key & (2**63 - 1), events.run, events.task, events.interaction, out)
        return out

    def normals(self, events: Events, count: int) -> Matrix:
        """Standard normals, (E, count)."""
        out = np.empty((events.run.size, count))
        keyed.to_normals(self.uniforms(events, 2 * count), out)
        return out
