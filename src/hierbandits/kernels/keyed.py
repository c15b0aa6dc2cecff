"""Random numbers that are functions of their key: the same whoever asks, in whatever order.

A key is (stream, run, task, interaction); each has as many numbers as are asked for.  The bits
are SplitMix64's (Steele, Lea and Flood, 2014), chained over the parts of the key.
"""

from math import cos, log, pi, sqrt

import numpy as np

from hierbandits.arrays import Indices, Matrix
from hierbandits.kernels.compiler import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@compiled
def mix(bits: np.uint64) -> np.uint64:
    """SplitMix64's finaliser: every bit of the input changes half of the output's."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
    return bits ^ (bits >> np.uint64(31))


@compiled
def uniforms(
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
def to_normals(uniform: Matrix, out: Matrix) -> None:
    """Fill out, (E, n), with standard normals from uniform numbers, (E, 2 n), by Box and Muller."""
    for e in range(out.shape[0]):
        for i in range(out.shape[1]):
            radius = sqrt(-2.0 * log(uniform[e, 2 * i]))
            out[e, i] = radius * cos(2.0 * pi * uniform[e, 2 * i + 1])
