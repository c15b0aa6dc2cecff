"""The site of one reward of a family, in a belief that keeps no rewards."""

from typing import Any, NamedTuple

import numpy as np

from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.kernels.site_change import SITE_PARTS


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
    sites = np.zeros((SITE_PARTS, 1))
    sites[:2, 0] = before
    table = np.array([features], np.intp if belief.is_armed else float)
    belief._match_sites(
        np.array([node], np.intp), table, np.array([reward], float), np.array([exposure], float),
        sites,
    )  # fmt: skip
    return Site(float(sites[0, 0]), float(sites[1, 0]))
