"""Compiled loops that pick an arm for each event by the scores of its arms."""

from hierbandits.arrays import Indices, Vector
from hierbandits.kernels.compiler import compiled


@compiled
def best(
    scores: Vector,
    offset: Indices,
    uniforms: Vector,
    rows: Indices,
    start: Indices,
    base: Indices,
    out: Indices,
) -> None:
    """The number of the arm that each event scores highest, ties broken by its uniform number.

    The arms and scores of events are laid out as in `score`; an arm's number is its row, counted
    from the event's base.
    """
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
        out[e] = rows[start[e] + winner - offset[e]] - base[e]
