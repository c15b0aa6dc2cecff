"""The ramp of a candidate in a server that is killed, and in one that is stopped."""

import time

import pytest
from support.logged_worlds import EXPLORING, LoggedWorld
from support.servers import Server
from support.service_calls import Line

from hierbandits.service.doctor import doctor

TASKS = [f"t{n}" for n in range(60)]


@pytest.fixture
def server(tmp_path):
    world = LoggedWorld(tmp_path / "data", settings=EXPLORING)
    world.close()
    server = Server(tmp_path / "data")
    server.start()
    yield server
    server.kill()


def ramp(line, share):
    """Bring a candidate to this share of tasks."""
    path = "/policies/shop/promotion"
    begun = line.post(path, {"step": "evaluate", "candidate": {"rule": "HierGreedy"}})
    while line.get(f"/policies/shop/evaluations/{begun['evaluation']}")["state"] == "running":
        time.sleep(0.05)
    assert line.call("POST", path, {"step": "shadow"})[0] == 200
    steps = [{"share": share, "seconds": 3600}, {"share": 1}]
    assert line.call("POST", path, {"step": "ramp", "steps": steps})[0] == 200


def decided(line):
    """The group and the version of each task's decision; all are rewarded."""
    wanted = {"decisions": [{"task": task} for task in TASKS]}
    made = line.post("/policies/shop/rounds", wanted)["decisions"]
    rewards = [{"id": one["id"], "value": 1.0} for one in made]
    assert line.call("POST", "/policies/shop/rewards", {"rewards": rewards})[0] == 200
    return {one["task"]: (one.get("group", "policy"), one["version"]) for one in made}


def seen(line):
    """What must be as it was."""
    paths = ("/rollout", "/audit", "", "/tasks/t1")
    return [line.get(f"/policies/shop{path}") for path in paths]


def test_a_ramp_goes_on_where_it_was(server):
    line = Line(server.port)
    ramp(line, 0.5)
    groups = decided(line)
    assert set(groups.values()) == {("policy", 2), ("previous", 1)}
    told = seen(line)
    for end in (server.kill, server.stop, server.kill):
        line.close()
        end()
        server.start()
        line = Line(server.port)
        assert seen(line) == told
        assert decided(line) == groups
        told = seen(line)
    line.close()
    server.stop()
    report = doctor(server.folder)
    assert report.faults == []
    names = [path.name for path in (server.folder / "snapshots").glob("*.agent")]
    snapshots = {name.split("-")[1] for name in names}
    assert snapshots == {"1", "2"}
    assert next(one for one in report.policies if one.name == "shop").snapshots >= 2
    server.start()
    line = Line(server.port)
    assert line.post("/policies/shop/rollout", {"action": "rollback"})["phase"] == "rolled back"
    line.close()
    server.kill()
    server.start()
    line = Line(server.port)
    assert set(decided(line).values()) == {("policy", 3)}
    line.close()
    server.kill()
    assert doctor(server.folder).faults == []
