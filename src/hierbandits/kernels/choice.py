"""Compiled loops that pick an arm for each event from the scores of its arms."""

from hierbandits.arrays import Indices, Vector
from hierbandits.kernels.compiler import compiled


@compiled
def best(scores: Vector, start: Indices, uniforms: Vector, out: Indices) -> None:
    """The position of each event's highest score, ties broken by its uniform number."""
    for e in range(start.size - 1):
        top = scores[start[e]]
        ties = 1
        winner = start[e]
        for j in range(start[e] + 1, start[e + 1]):
            if scores[j] > top:
                top = scores[j]
                winner = j
                ties = 1
            elif scores[j] == top:
                ties += 1
        if ties > 1:
            skip = int(uniforms[e] * ties)
            for j in range(start[e], start[e + 1]):
                if scores[j] == top:
                    if skip == 0:
                        winner = j
                        break
                    skip -= 1
        out[e] = winner
