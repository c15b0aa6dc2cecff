"""A check, before anything happens, that a family gives a number for what a belief will be told."""

import numpy as np

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.posterior import Posterior
from hierbandits.kernels.predictive_density import log_predictive
from hierbandits.types import Features, Indices, Vector


def check_told(belief: Posterior, nodes: Indices, features: Features, rewards: Vector) -> None:
    """Raise an error that names a reward of exposure 1 for which the family gives no number.

    Nodes that are not met yet are stood for by their root.  The package's own families give one.
    """
    if not isinstance(belief, MatchedBelief) or belief.family.is_known:
        return
    linear = belief._raw_predict(nodes, features, np.arange(nodes.size))
    family, ones, out = belief.family, np.ones(nodes.size), np.empty(nodes.size)
    log_predictive(family.code, family.shape, rewards, ones, linear.mean, linear.std**2, out)
    family.check_numbers(out, rewards, ones)
