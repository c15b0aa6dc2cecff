"""One colour and one dash for each policy, the same in every figure."""

from collections.abc import Iterable
from typing import Any
from zlib import crc32

STYLES = {
    "HierTS": ("#0072b2", "-"),
    "AdaptiveHierTS": ("#56b4e9", "-"),
    "AdaptiveHierTS, noise known": ("#332288", (0, (4, 1, 1, 1))),
    "TS": ("#d55e00", "--"),
    "OracleTS": ("#444444", ":"),
    "PooledTS": ("#009e73", "-."),
    "HierUCB": ("#cc79a7", (0, (5, 1, 1, 1, 1, 1))),
    "HierTS-fresh": ("#004488", (0, (2, 1))),
    "HierRandUCB": ("#aa4499", "-"),
    "HierIDS": ("#117733", (0, (4, 2, 1, 2))),
    "HierTS-forced": ("#88ccee", (0, (3, 1))),
    "HierGreedy": ("#e69f00", (0, (1, 2))),
    "LinUCB": ("#999933", (0, (6, 2, 2, 2))),
    "this start": ("#661100", "-"),
    "best single arm": ("#999999", (0, (1, 1))),
    "no log": ("#882255", "--"),
}


OWN_COLOURS = (
    "#b8860b",
    "#8b4513",
    "#4b0082",
    "#708090",
    "#c71585",
    "#2e8b57",
    "#1e90ff",
    "#a52a2a",
)
OWN_DASHES = ("-", "--", "-.", (0, (3, 1, 1, 1)), (0, (8, 2)))
"""Of policies that are not listed: no listed policy has such a colour."""


def line_style(name: str) -> tuple[str, Any]:
    """The colour and the dash of a policy; a name that is not listed has those of its digest."""
    return STYLES.get(name) or _own_style(crc32(name.encode()))


def line_styles(names: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """The styles of a figure's policies, all different.

    A name that is not listed has its own in every figure, unless another name of the figure has
    the same: then it has the next one.
    """
    styles: dict[str, tuple[str, Any]] = {}
    for name in names:
        style, place = line_style(name), crc32(name.encode())
        while style in styles.values() and len(styles) < len(OWN_COLOURS) * len(OWN_DASHES):
            place += 1
            style = _own_style(place)
        styles[name] = style
    return styles


def _own_style(place: int) -> tuple[str, Any]:
    dash, colour = divmod(place % (len(OWN_COLOURS) * len(OWN_DASHES)), len(OWN_COLOURS))
    return OWN_COLOURS[colour], OWN_DASHES[dash]
