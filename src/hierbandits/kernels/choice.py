"""Compiled loops that pick an arm for each event by the scores of its arms."""

from hierbandits.arrays import Indices, Vector
from hierbandits.kernels.compiler import compiled


@compiled
def best(scores: Vector, offset: Indices, uniforms: Vector, out: Indices) -> None:
    """Which of its arms each event scores highest, ties broken by its uniform number."""
    for e in range(offset.size - 1):
        top = scores[offset[e]]
        ties = 1
        winner = offset[e]
        for j in range(offset[e] + 1, offset[e + 1]):
            if scores[j] > top:
                top = scores[j]
                winner = j
                ties = 1
            elif scores[j] == top:
                ties += 1
        if ties > 1:
            skip = int(uniforms[e] * ties)
            for j in range(offset[e], offset[e + 1]):
                if scores[j] == top:
                    if skip == 0:
                        winner = j
                        break
                    skip -= 1
        out[e] = winner - offset[e]
