"""One colour and one dash for each policy, the same in every figure."""

from typing import Any

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


def line_style(name: str) -> tuple[str | None, Any]:
    """The colour and the dash of a policy; a name that is not listed has the next free colour."""
    return STYLES.get(name, (None, "-"))
