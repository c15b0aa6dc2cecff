"""A service on a folder, and the kernels that its first requests compile or load.

`python -m support.served_kernel_loads fill FOLDER` makes policies of every kind.
`python -m support.served_kernel_loads ask FOLDER` serves them, and prints what the first requests
have loaded, one a line; then those of a policy that is new.
"""

import sys
import tempfile
from pathlib import Path

from hierbandits.service.policy_settings import PolicySettings
from support.kernel_loads import loaded
from support.local_services import LocalService
from support.service_lives import FEATURES, KINDS, task_of

RULES = ("HierIDS", "HierTS", "HierUCB", "AdaptiveHierTS")


def every_policy():
    """Settings of every kind of model, and of the rules that people use."""
    yield from KINDS.items()
    for rule in RULES:
        yield f"plain-{rule}", PolicySettings(arms=["x", "y", "z"], rule=rule)
        yield f"features-{rule}", PolicySettings(arms=FEATURES, rule=rule)
    yield "bare", PolicySettings(num_features=3, rule="HierTS")
    yield "undrawn", PolicySettings(arms=["x", "y"], draws=0)
    yield "clicks", PolicySettings(arms=["x", "y"], rewards="bernoulli")


def ask(local, name, settings):
    """The first requests to a policy."""
    arms = {"a": [1.0, 0.0, 0.5], "b": [0.0, 1.0, 0.5]} if name == "bare" else None
    offer = {} if arms is None else {"arms": arms}
    task = task_of(settings, 0)
    made = _good(local.request("POST", f"/policies/{name}/decisions", json={"task": task} | offer))
    path = f"/policies/{name}/decisions/{made['id']}/reward"
    _good(local.request("POST", path, json={"value": 1.0}))
    _good(local.request("PUT", path, json={"value": 0.0}))
    tasks = [{"task": task_of(settings, i)} | offer for i in range(4)]
    made = _good(local.request("POST", f"/policies/{name}/rounds", json={"decisions": tasks}))
    rewards = [{"id": one["id"], "value": 1.0} for one in made["decisions"]]
    _good(local.request("POST", f"/policies/{name}/rewards", json={"rewards": rewards}))
    _good(local.request("GET", "/metrics"))


def _good(response):
    assert response.status_code < 300, response.text
    return response.json() if response.headers["content-type"] == "application/json" else None


def main(what, folder):
    with LocalService(Path(folder)) as local:
        if what == "fill":
            for name, settings in every_policy():
                path = f"/policies/{name.replace(' ', '-')}"
                _good(local.request("PUT", path, content=settings.to_json()))
            return
        before = loaded()
        for name, settings in every_policy():
            ask(local, name.replace(" ", "-"), settings)
        print("\n".join(sorted(loaded() - before)))
    with tempfile.TemporaryDirectory() as new, LocalService(Path(new) / "data") as local:
        settings = PolicySettings(arms=["x", "y"], rule="HierGreedy", draws=7)
        _good(local.request("PUT", "/policies/new", content=settings.to_json()))
        before = loaded()
        ask(local, "new", settings)
        print("\n".join(sorted(loaded() - before)))


if __name__ == "__main__":
    main(*sys.argv[1:])
