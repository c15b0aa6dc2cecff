"""Random numbers that are functions of their key: the same for everyone, in any order.

A key is a seed, a purpose and three integers.  Those of a simulated event are its run, its task and
its interaction, so every policy meets the same luck.  The bits are those of SplitMix64 (Steele, Lea
and Flood, 2014), chained over the parts of the key.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, log, pi, sqrt
from typing import TypeAlias
from zlib import crc32

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Matrix, Vector

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


Keys: TypeAlias = tuple[Indices, Indices, Indices]
"""Three integers for each of E keys, (E,) each."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The random numbers of one purpose: functions of the seed, the purpose and the key alone."""

    seed: int
    purpose: str

    def uniforms(self, keys: Keys, count: int) -> Matrix:
        """Uniform numbers in (0, 1), (E, count)."""
        runs, tasks, interactions = (np.asarray(key) for key in keys)
        kinds = {key.dtype.kind for key in (runs, tasks, interactions)}
        if not runs.shape == tasks.shape == interactions.shape == (runs.size,) or kinds - set("iu"):
            raise ValueError(f"keys must be rows of integers, equally long, got {keys!r:.80}")
        out = np.empty((runs.size, count))
        fill_uniforms(_key(self.seed, self.purpose), runs, tasks, interactions, out)
        return out

    def of_rows(self, rows: Indices) -> Vector:
        """A uniform number in (0, 1) for each row of a log, by its number alone, (E,)."""
        zeros = np.zeros(rows.size, np.intp)
        numbers: Vector = self.uniforms((rows, zeros, zeros), 1)[:, 0]
        return numbers

    def normals(self, keys: Keys, count: int) -> Matrix:
        """Standard normals, (E, count)."""
        out = np.empty((keys[0].size, count))
        fill_normals(self.uniforms(keys, 2 * count), out)
        return out


@lru_cache
def _key(seed: int, purpose: str) -> int:
    """63 bits that are others for another seed or purpose."""
    words = seed_words(seed, crc32(purpose.encode()))
    state = np.random.SeedSequence(words).generate_state(1, np.uint64)
    return int(state[0]) >> 1


def seed_words(seed: int, *parts: int) -> list[int]:
    """Entropy of a seed and of parts, each below 2^32, that is another for each other seed.

    numpy cuts a larger number into words of 32 bits, so that [2^32 + 5, 7] would be [5, 1, 7].
    Such a seed comes with the number of its words, and with more words than a SeedSequence pads.
    """
    if seed < 1 << 32:
        return [seed, *parts]
    words = [seed >> shift & 0xFFFFFFFF for shift in range(0, seed.bit_length(), 32)]
    return [len(words), *words, *parts, *[0] * 3]


@compiled
def mix(bits: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: a change of one bit changes half of the result's bits."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


@compiled
def fill_uniforms(
    stream: int, runs: Indices, tasks: Indices, interactions: Indices, out: Matrix
) -> None:
    """Fill out, (E, n), with uniform numbers in (0, 1)."""
    for e in range(runs.size):
        bits = mix(np.uint64(stream) + _GOLDEN)
        bits = mix(bits ^ (np.uint64(runs[e]) * _GOLDEN + _MIX_1))
        bits = mix(bits ^ (np.uint64(tasks[e]) * _GOLDEN + _MIX_2))
        bits = mix(bits ^ (np.uint64(interactions[e]) * _GOLDEN))
        for i in range(out.shape[1]):
            bits += _GOLDEN
            out[e, i] = (float(mix(bits) >> np.uint64(11)) + 0.5) / 9007199254740992.0


@compiled
def fill_normals(uniform: Matrix, out: Matrix) -> None:
    """Fill out, (E, n), with standard normals from uniform numbers, (E, 2 n), by Box and Muller."""
    for e in range(out.shape[0]):
        for i in range(out.shape[1]):
            radius = sqrt(-2.0 * log(uniform[e, 2 * i]))
            out[e, i] = radius * cos(2.0 * pi * uniform[e, 2 * i + 1])
