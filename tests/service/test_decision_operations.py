import re

import pytest
from support.local_services import LocalService


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        assert local.request("PUT", "/policies/p", json={"arms": ["x", "y"]}).status_code == 200
        yield local


def decide(local, policy="p", **body):
    return local.request("POST", f"/policies/{policy}/decisions", json={"task": "t"} | body)


def reward(local, id, value, method="POST", policy="p"):
    path = f"/policies/{policy}/decisions/{id}/reward"
    return local.request(method, path, json={"value": value})


def test_a_decision_has_an_id_an_arm_and_its_propensity(local):
    reply = decide(local).json()
    assert reply["arm"] in ("x", "y")
    assert 0 < reply["propensity"] <= 1
    assert (reply["task"], reply["version"]) == ("t", 1)
    shown = local.request("GET", f"/policies/p/decisions/{reply['id']}").json()
    assert (shown["arm"], shown["propensity"]) == (reply["arm"], reply["propensity"])
    assert shown["reward"] is None


def test_the_same_id_again_has_the_same_answer(local):
    first = decide(local, id="mine").json()
    again = decide(local, id="mine").json()
    assert again == first | {"duplicate": True}
    other = decide(local, id="mine", task="u")
    assert (other.status_code, other.json()["code"]) == (409, "id_taken")
    assert local.request("GET", "/policies/p").json()["pending"] == 1


def test_eligible_arms_bound_the_choice(local):
    assert {decide(local, arms=["y"]).json()["arm"] for _ in range(5)} == {"y"}
    assert decide(local, arms=["z"]).status_code == 400
    assert decide(local, arms=[]).status_code == 400


def test_a_round_serves_those_that_can_be(local):
    tasks = [{"task": "a"}, {"task": "b", "arms": ["nope"]}, {"task": "c", "id": "k"}]
    reply = local.request("POST", "/policies/p/rounds", json={"decisions": tasks})
    one, two, three = reply.json()["decisions"]
    assert (one["task"], three["id"]) == ("a", "k")
    assert (two["status"], two["code"]) == (400, "bad_request")


@pytest.mark.parametrize("number", [0, 10_001])
def test_a_round_is_neither_empty_nor_endless(local, number):
    for path, name, row in [
        ("rounds", "decisions", {"task": "a"}),
        ("rewards", "rewards", {"id": "k", "value": 1}),
    ]:
        reply = local.request("POST", f"/policies/p/{path}", json={name: [row] * number})
        assert reply.status_code == 400
        assert f"{name} must be 1 to 10000, got {number}" in reply.json()["detail"]


def test_a_reward_counts_once(local):
    id = decide(local).json()["id"]
    assert reward(local, id, 1).json() == {"id": id, "status": "learned"}
    assert reward(local, id, 1).json() == {"id": id, "status": "duplicate"}
    other = reward(local, id, 2)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    assert local.request("GET", "/policies/p").json()["rewards"] == 1


def test_a_reward_of_nothing_is_not_found(local):
    for id in ("nope", "1.0.00000000", "ffffffffffffffff.ffffffff.ffffffff", "%00", "%FF"):
        assert reward(local, id, 1).status_code == 404
        assert local.request("GET", f"/policies/p/decisions/{id}").status_code == 404


def test_a_correction_replaces_the_reward(local):
    id = decide(local).json()["id"]
    early = reward(local, id, 1, "PUT")
    assert (early.status_code, early.json()["code"]) == (409, "no_reward_yet")
    reward(local, id, 1)
    assert reward(local, id, 3, "PUT").json()["status"] == "corrected"
    assert local.request("GET", f"/policies/p/decisions/{id}").json()["reward"] == 3
    assert local.request("GET", "/policies/p").json()["rewards"] == 1


def test_many_rewards_each_have_their_answer(local):
    ids = [decide(local).json()["id"] for _ in range(2)]
    rows = [{"id": id, "value": 1} for id in [ids[0], "nope", ids[1], ids[0]]]
    reply = local.request("POST", "/policies/p/rewards", json={"rewards": rows}).json()
    assert [one["status"] for one in reply["rewards"]] == ["learned", 404, "learned", "duplicate"]


def test_requests_that_come_together_are_all_answered(local):
    asks = [
        ("POST", "/policies/p/decisions", {"json": {"task": f"t{i}", "id": f"k{i % 10}"}})
        for i in range(20)
    ]
    replies = local.together(*asks)
    fresh = [one.json() for one in replies[:10]]
    assert [one["id"] for one in fresh] == [f"k{i}" for i in range(10)]
    assert all(one.status_code == 409 for one in replies[10:])  # the same ids for other tasks


def test_decisions_and_rewards_are_counted_by_policy(local):
    id = decide(local).json()["id"]
    reward(local, id, 1)
    reward(local, id, 1)
    text = local.request("GET", "/metrics").text
    assert 'hierbandits_decisions_total{group="policy",policy="p"} 1.0' in text
    assert 'hierbandits_rewards_total{policy="p",status="learned"} 1.0' in text
    assert 'hierbandits_rewards_total{policy="p",status="duplicate"} 1.0' in text


def test_freshness_is_measured_where_rewards_are_learned(local):
    ids = [decide(local).json()["id"] for _ in range(4)]
    reward(local, ids[0], 1)
    reward(local, ids[0], 1)  # a duplicate brings nothing
    reward(local, ids[0], 2, "PUT")
    rewards = [{"id": id, "value": 1.0} for id in [*ids[1:], "nobody"]]
    local.request("POST", "/policies/p/rewards", json={"rewards": rewards})
    local.request("POST", "/policies/p/rewards", json={"rewards": rewards})
    text = local.request("GET", "/metrics").text
    assert 'hierbandits_freshness_seconds_count{policy="p"} 3.0' in text
    (total,) = re.findall(r'hierbandits_freshness_seconds_sum{policy="p"} (\S+)', text)
    assert 0 < float(total) < 60


def test_every_metric_is_observed_in_the_life_of_a_policy(tmp_path):
    now = [1000.0]
    with LocalService(tmp_path / "data", clock=lambda: now[0]) as local:
        guardrail = {"name": "errors", "at_most": 0.1}
        settings = {"arms": ["x", "y"], "reward_wait": 5.0, "guardrails": [guardrail]}
        settings |= {"control_arm": "x", "ratio_check": "rewards"}
        assert local.request("PUT", "/policies/p", json=settings).status_code == 200
        reward(local, decide(local).json()["id"], 1)
        decide(local)
        now[0] += 10.0
        local.run(local.service._expire())
        text = local.request("GET", "/metrics").text
    declared = set(re.findall(r"^# TYPE (hierbandits_\w+) ", text, re.MULTILINE))
    silent = [one for one in declared if not re.search(rf"^{one}(_count)?(?:{{.*}})? ", text, re.M)]
    assert len(declared) >= 11
    assert silent == []


@pytest.mark.parametrize("text", ["NaN", "1e308", "1e999", "true", '"1"', "null", "[]"])
def test_odd_rewards_are_refused_and_change_nothing(local, text):
    id = decide(local).json()["id"]
    before = local.request("GET", "/policies/p/tasks/t").content
    path = f"/policies/p/decisions/{id}/reward"
    reply = local.request("POST", path, content=f'{{"value":{text}}}')
    assert reply.status_code == 400
    assert local.request("GET", "/policies/p/tasks/t").content == before
    assert reward(local, id, 1).json()["status"] == "learned"


@pytest.mark.parametrize("id", ["a/b", "reward", "a/reward", "../x", "ü"])
def test_any_id_of_a_client_can_be_rewarded(local, id):
    decide(local, id=id)
    path = "".join(f"%{byte:02X}" for byte in id.encode())
    assert reward(local, path, 1).json() == {"id": id, "status": "learned"}
