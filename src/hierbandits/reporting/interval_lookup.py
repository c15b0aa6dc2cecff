"""A plot of many intervals that a reader searches by name, inside a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from hierbandits.reporting.lookup_script import SCRIPT
from hierbandits.reporting.shown_name import shown_cell
from hierbandits.types import Indices, Matrix

MOST_ITEMS, MOST_GROUPS, MOST_CELLS = 2000, 24, 20_000
"""What a page holds: more would make it slow to open."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class IntervalLookup:
    """Items with an interval in each of several groups, beside that of the item's home.

    A page shows the items of one group in order of their means, as bars, and finds items by name.
    The names of items and groups are shown as they are.
    """

    item: str  # what items are called, "task"
    group: str  # what groups are called, "arm"
    items: Sequence[object]
    groups: Sequence[object]
    homes: Sequence[object]  # names; one alone is not shown
    remarks: Sequence[str]  # on each item
    home: Indices  # of each item, a place in `homes`, (items,)
    mean: Matrix  # (items, groups)
    reach: Matrix  # half the length of the interval, (items, groups)
    home_mean: Matrix  # (homes, groups)
    home_reach: Matrix  # (homes, groups)

    def kept(self, order: Indices) -> Indices:
        """The items that a page has room for, the first in this order."""
        most = min(MOST_ITEMS, MOST_CELLS // max(1, min(len(self.groups), MOST_GROUPS)))
        return np.sort(order[:most])

    def html(self, order: Indices, elsewhere: str) -> str:
        """The part of a page; if it has no room for all items, the first in `order` are there.

        `elsewhere` says where all of them are.
        """
        kept, groups = self.kept(order), slice(MOST_GROUPS)
        data = {
            "item": self.item,
            "group": self.group,
            "items": [shown_cell(str(self.items[place])) for place in kept],
            "groups": [shown_cell(str(name)) for name in self.groups[groups]],
            "homes": [shown_cell(str(name)) for name in self.homes],
            "remarks": [self.remarks[place] for place in kept],
            "home": self.home[kept].tolist(),
            "mean": _rounded(self.mean[kept, groups].T),
            "reach": _rounded(self.reach[kept, groups].T),
            "homeMean": _rounded(self.home_mean[:, groups].T),
            "homeReach": _rounded(self.home_reach[:, groups].T),
        }
        return (
            f'<div class="lookup"><p>{escape(self._counts(kept.size, elsewhere))}</p>'
            f'<script type="application/json">{_in_script(data)}</script></div>'
            f'<script type="module">{SCRIPT}</script>'
        )

    def _counts(self, kept: int, elsewhere: str) -> str:
        """How many items are here, and where the others are."""
        text = f"All {len(self.items):,} {self.item}s are here."
        if kept < len(self.items):
            text = f"{kept:,} of {len(self.items):,} {self.item}s are here; {elsewhere}."
        if len(self.groups) > MOST_GROUPS:
            first = f"the first {MOST_GROUPS} of {len(self.groups):,} {self.group}s"
            text += f" Of each there are {first}."
        return text


def _rounded(values: Matrix) -> list[list[float]]:
    """Four digits of each number."""
    return [[float(f"{value:.4g}") for value in row] for row in values.tolist()]


def _in_script(data: object) -> str:
    """JSON that cannot end the script that it stands in."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
