"""All state of a belief in one value, so that tests notice any change of it."""


def belief_state(belief):
    """What a belief would write to a file; of an adaptive belief, that of every candidate."""
    meta, arrays = belief.state()
    return meta, {
        name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()
    }
