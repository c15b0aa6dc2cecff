"""A policy with a rollout in a service of each kind: one process alone, and two that share it."""

import time
from contextlib import contextmanager

from hierbandits.service.shared_service import SharedService
from support.local_services import LocalService


class RolloutService:
    """Requests for one policy, each to the next worker, where there are several."""

    def __init__(self, workers):
        self.workers, self._next = workers, 0

    @property
    def shares(self):
        return len(self.workers) > 1

    def request(self, method, path, **options):
        self._next += 1
        return self.workers[self._next % len(self.workers)].request(method, path, **options)

    def put(self, settings, **options):
        return self.request("PUT", "/policies/p", json=settings, **options)

    def get(self, path, **options):
        return self.request("GET", f"/policies/p/{path}", **options).json()

    def post(self, path, body, **options):
        return self.request("POST", f"/policies/p/{path}", json=body, **options)

    def act(self, action, steps=(), **options):
        body = {"action": action} | ({"steps": steps} if steps else {})
        return self.post("rollout", body, **options)

    def decide(self, number, prefix="task"):
        """Decisions of as many tasks, one by one or in a round, from all workers."""
        rows = [{"task": f"{prefix} {n}"} for n in range(number)]
        half = number // 2 if self.shares else 0
        some = [part for part in (rows[:half], rows[half:]) if part]
        return [
            one
            for part in some
            for one in self.post("rounds", {"decisions": part}).json()["decisions"]
        ]

    def groups(self, number=40):
        return {one["task"]: one.get("group", "policy") for one in self.decide(number)}

    def rollout_when(self, is_so):
        """Where the rollout stands when something is so; by whoever folds, soon."""
        deadline = time.monotonic() + 30
        while not is_so(shown := self.get("rollout")):
            assert time.monotonic() < deadline, shown
            if not self.shares:
                self.workers[0].run(self.workers[0].service._step())
            time.sleep(0.02)
        return shown

    def audit(self, **options):
        return self.get("audit", **options)["changes"]


@contextmanager
def rollout_service(kind, folder, store_url, **options):
    """A service of a kind, "alone" or "shared"."""
    if kind == "alone":
        with LocalService(folder / "alone", **options) as one:
            yield RolloutService([one])
        return
    more = options | {"kind": SharedService, "store": store_url}
    with LocalService(folder / "one", **more) as one, LocalService(folder / "two", **more) as two:
        yield RolloutService([one, two])
