"""A guardrail that is crossed in a server which is then killed."""

from support.servers import Server
from support.service_calls import Line

from hierbandits.service.doctor import doctor

SETTINGS = {
    "arms": ["x", "y"], "draws": 5, "control_arm": "x", "ratio_check": "rewards",
    "guardrails": [{"name": "errors", "at_most": 0.1}],
}  # fmt: skip


def test_a_rollback_is_in_force_at_once_and_after_a_kill(tmp_path):
    server = Server(tmp_path / "data")
    server.start()
    try:
        line = Line(server.port)
        assert line.call("PUT", "/policies/p", SETTINGS)[0] == 200
        made = line.post("/policies/p/rounds", {"decisions": [{"task": f"t{n}"} for n in range(9)]})
        ids = [one["id"] for one in made["decisions"]]
        line.post("/policies/p/rewards", {"rewards": [{"id": id, "value": 1} for id in ids]})
        group = "policy"
        while group == "policy":
            id = ids.pop()
            line.post(f"/policies/p/decisions/{id}/metrics", {"values": {"errors": 1}})
            group = line.post("/policies/p/decisions", {"task": "new"}).get("group", "policy")
        assert group == "control"  # the next decision after the value
        told = line.get("/policies/p/rollout"), line.get("/policies/p/audit")
        assert told[0]["phase"] == "rolled back"
        line.close()
        server.kill()
        server.start()
        line = Line(server.port)
        assert (line.get("/policies/p/rollout"), line.get("/policies/p/audit")) == told
        assert line.post("/policies/p/decisions", {"task": "newer"})["group"] == "control"
        again = line.post(f"/policies/p/decisions/{id}/metrics", {"values": {"errors": 1}})
        assert again["values"] == {"errors": "duplicate"}
        line.close()
    finally:
        server.kill()
    assert doctor(tmp_path / "data").faults == []
