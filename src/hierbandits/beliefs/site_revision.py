"""A reward of a family that is replaced by another: where it is, and whether it can be."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.beliefs.site_rows import SiteRows
from hierbandits.models.reward_family import RewardFamily
from hierbandits.types import Vector

SETTLED = -1
"""The row of a reward that has none any more."""

_PROBES = (-2.0, 0.0, 1.5)  # where slopes are compared


@dataclass(frozen=True, slots=True, eq=False)
class SiteRevision:
    """A reward of exposure 1 that a node had, and the one that takes its place.

    What it changes in the likelihood is p(new | eta) / p(old | eta).  Where log densities are
    y * eta and a function of eta alone (clicks, counts), that is exp((new - old) eta), up to a
    number.  It is a Gaussian's exactly: it moves the weighted observation of the reward's site by
    `tilt` and leaves its precision.  So a reward can be replaced although its site is settled.
    """

    row: int  # of the reward, or of the sum that it is part of; or SETTLED
    both: Vector  # the old reward and the new one
    tilt: float
    base: float  # what the log density changes by besides, at eta = 0 if the reward is settled

    @classmethod
    def of(
        cls, family: RewardFamily, rows: SiteRows, node: int, features: Any, both: Vector
    ) -> "SiteRevision":
        """Find the reward; an error if the node has not had it, or if it is settled for good."""
        family.check("rewards", both, np.ones(2))
        row = rows.row_of(node, features, both[0])
        base = float(np.diff(family.log_base(both, np.ones(2)))[0])
        if row >= 0:
            after = rows.rewards[row : row + 1] + (both[1] - both[0])
            family.check_totals("old_reward's sum", after, rows.exposure[row : row + 1])
            return cls(row, both, 0.0, base)
        _check_settled(rows, node, both[0], 1)
        tilt, more = _tilted(family, *both.tolist())
        return cls(SETTLED, both, tilt, base + more)


def check_revisions(
    family: RewardFamily, rows: SiteRows, events: Iterable[tuple[int, Any, float, float]]
) -> None:
    """Raise an error unless `SiteRevision` can be of all these events, one after the other.

    They are of a node, features, the old reward and the new one, checked but for the rewards.
    """
    totals: dict[int, Vector] = {}
    number: Counter[tuple[int, bytes, float]] = Counter()
    for node, features, old, new in events:
        both = np.array([old, new])
        family.check("rewards", both, np.ones(2))
        row = rows.row_of(node, features, old)
        if rows.adds_up and row >= 0:
            before = totals.get(row, rows.rewards[row : row + 1])
            totals[row] = before + (new - old)
            family.check_totals("old_reward's sum", totals[row], rows.exposure[row : row + 1])
            continue
        key = node, np.asarray(features).tobytes(), old
        number[key] += 1
        short = number[key] - rows.number_of(node, features, old)
        if short > 0:
            _check_settled(rows, node, old, short)
            _tilted(family, old, new)


def _check_settled(rows: SiteRows, node: int, old: float, number: int) -> None:
    """Raise an error unless a node has so many rewards whose sites are settled."""
    if rows.settled.number_of(node) < number:
        raise ValueError(f"old_reward must be one that node {node} has had, got {old:g}")


def _tilted(family: RewardFamily, old: float, new: float) -> tuple[float, float]:
    """The tilt of a replaced reward, and how far its log density changes at eta = 0."""
    slopes = np.array(
        [[family.slope(y, 1.0, family.shape, eta) for eta in _PROBES] for y in (old, new)]
    )
    change = slopes[1] - slopes[0]
    if not np.ptp(change) <= 1e-9 * max(1.0, float(np.abs(slopes).max())):
        raise ValueError(
            f"old_reward must be one of the newest, got {old:g}, which is settled: of "
            f"{family.NAME} rewards a settled one cannot be replaced"
        )
    logs = [0.0, 0.0]
    for place, reward in enumerate((old, new)):
        out = [0.0]
        family.log_densities(reward, 1.0, family.shape, [0.0], out, 1)
        logs[place] = out[0]
    return float(change[1]), logs[1] - logs[0]
