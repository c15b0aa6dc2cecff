"""Sites of rewards of a family, one by one, in a belief that keeps no rewards."""

from typing import Any, NamedTuple

import numpy as np

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.types import Features, Matrix, Vector


class Site(NamedTuple):
    """What stands for a reward: exp(b eta - a eta^2 / 2) of its linear predictor eta.

    So it is an observation of eta of precision a; see `kernels.matched_site`.
    """

    precision: float = 0.0  # a
    weighted: float = 0.0  # b

    def plus(self, other: "Site", sign: float = 1.0) -> "Site":
        """Both together; the difference with a sign of -1."""
        return Site(self.precision + sign * other.precision, self.weighted + sign * other.weighted)


NO_SITE = Site()
"""What stands for no reward."""


def match_site(
    belief: MatchedBelief, node: int, features: Any, reward: float, exposure: float, before: Site
) -> Site:
    """Let a task know a reward in place of the site that stood for it; its site from now on.

    The belief must know `before`, which is taken out first.  It keeps neither the reward nor the
    site.  All arguments were checked before.
    """
    table = np.array([features], np.intp if belief.is_armed else float)
    rewards, sizes = np.array([reward], float), np.array([exposure], float)
    ((precision, weighted),) = match_sites(
        belief, node, table, rewards, sizes, np.array([before])
    ).tolist()
    return Site(precision, weighted)


def match_sites(
    belief: MatchedBelief,
    node: int,
    features: Features,
    rewards: Vector,
    exposure: Vector,
    before: Matrix,  # (E, 2)
) -> Matrix:
    """`match_site` of several rewards of a task, in order; their sites, (E, 2)."""
    sites = np.zeros((SITE_PARTS, len(before)))
    sites[:2] = before.T
    nodes = np.full(len(before), node, np.intp)
    belief._match_sites(nodes, features, rewards, exposure, sites)
    return sites[:2].T.copy()
