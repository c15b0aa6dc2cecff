"""All state of a belief in one value, so that tests notice any change of it; and its size."""

import numpy as np


def belief_state(belief):
    """What a belief would write to a file; a look at widths is ended."""
    meta, arrays = belief.state()
    return meta, {
        name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()
    }


def largest_mean(belief):
    """The size of the largest mean that a node keeps, given its parent's parameter."""
    nodes = belief._nodes
    return max(np.abs(nodes.given_parent(node)[0]).max() for node in range(nodes.size))
