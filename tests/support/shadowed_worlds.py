"""Policies that have a candidate in their shadow."""

import asyncio

from support.local_services import LocalService
from support.logged_worlds import EXPLORING, LoggedWorld

NAME = "/policies/shop"


def shadowed_folder(folder):
    """A data folder whose policy "shop" has a shadow of another rule, "shop.candidate"."""
    world = LoggedWorld(folder, settings=EXPLORING, rounds=20)
    world.close()
    with LocalService(world.folder) as local:
        asked = {"step": "evaluate", "candidate": {"rule": "HierGreedy"}}
        begun = local.request("POST", f"{NAME}/promotion", json=asked).json()
        path = f"{NAME}/evaluations/{begun['evaluation']}"
        while local.request("GET", path).json()["state"] == "running":
            local.run(asyncio.sleep(0.05))
        told = local.request("POST", f"{NAME}/promotion", json={"step": "shadow"}).json()
        assert told["step"] == "shadow"
    return world.folder
