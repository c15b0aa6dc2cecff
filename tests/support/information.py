"""The mixture of arms that information-directed sampling plays, for the tests of its rule."""

import numpy as np

from hierbandits.kernels.information import mixture_shares


def mixture_of(values, eligible=None):
    eligible = np.ones(values.shape[1], bool) if eligible is None else eligible
    out = np.zeros((1, values.shape[1]))
    mixture_shares(values[None], eligible[None], out)
    return out[0]
