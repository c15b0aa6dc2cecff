"""A candidate is evaluated, shadowed and ramped, step by step."""

import asyncio
import shutil

import pytest
from support.local_services import LocalService
from support.logged_worlds import ARMS, EXPLORING, LoggedWorld

from hierbandits.service.policy_settings import PolicySettings

PATH = "/policies/shop/promotion"
STEPS = [{"share": 0.2, "seconds": 60}, {"share": 1}]
CANDIDATE = {"rule": "HierGreedy", "floor": 0.05}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    parts = {name: getattr(EXPLORING, name) for name in EXPLORING.__struct_fields__}
    settings = PolicySettings(**parts | {"control_arm": "z", "control_share": 0.2})
    world = LoggedWorld(tmp_path_factory.mktemp("world") / "data", settings=settings)
    world.close()
    return world.folder


@pytest.fixture
def local(world, tmp_path):
    shutil.copytree(world, tmp_path / "data")
    with LocalService(tmp_path / "data") as local:
        yield local


def step(local, name, status=200, **parts):
    reply = local.request("POST", PATH, json={"step": name, **parts})
    assert reply.status_code == status, reply.text
    return reply.json()


def evaluated(local):
    """A candidate whose evaluation is done."""
    begun = step(local, "evaluate", candidate=CANDIDATE)
    assert (begun["step"], begun["next"]) == ("evaluate", "shadow")
    assert step(local, "shadow", 409)["code"] == "not_evaluated"
    path = f"/policies/shop/evaluations/{begun['evaluation']}"
    while local.request("GET", path).json()["state"] == "running":
        local.run(asyncio.sleep(0.05))


def decide(local, number, policy="shop"):
    wanted = {"decisions": [{"task": f"t{n}"} for n in range(number)]}
    return local.request("POST", f"/policies/{policy}/rounds", json=wanted).json()["decisions"]


def test_a_candidate_goes_all_the_way(local):
    evaluated(local)
    shadowed = step(local, "shadow")
    assert (shadowed["step"], shadowed["next"]) == ("shadow", "ramp")
    assert shadowed["shadow"] == "shop.candidate"
    assert shadowed["verdict"].startswith("The candidate")
    made = decide(local, 20)
    single = local.request("POST", "/policies/shop/decisions", json={"task": "t1"}).json()
    made.append(single)
    rewards = [{"id": one["id"], "value": 1.0} for one in made[:-1]]
    local.request("POST", "/policies/shop/rewards", json={"rewards": rewards})
    path = f"/policies/shop/decisions/{single['id']}/reward"
    local.request("POST", path, json={"value": 1.0})
    local.run(asyncio.sleep(0.3))
    for one in made:
        seen = local.request("GET", f"/policies/shop.candidate/decisions/{one['id']}").json()
        assert (seen["arm"], seen["group"], seen["reward"]) == (one["arm"], "shadow", 1.0)
        assert seen["would"] in ARMS
    told = local.request("GET", PATH).json()
    assert told["shown"] == 21
    assert 0 < told["agreed"] <= 21
    ramped = step(local, "ramp", steps=STEPS)
    assert (ramped["step"], ramped["next"]) == (None, "evaluate")
    shop = local.request("GET", "/policies/shop").json()
    assert (shop["settings"]["rule"], shop["settings"]["control_share"]) == ("HierGreedy", 0.2)
    rollout = local.request("GET", "/policies/shop/rollout").json()
    assert (rollout["share"], rollout["previous"]) == (0.2, shop["version"] - 1)
    groups = {(one.get("group", "policy"), one["version"]) for one in decide(local, 200)}
    new = shop["version"]
    assert groups == {("policy", new), ("previous", new - 1), ("control", new)}
    assert (
        local.request("PUT", "/policies/shop", json=shop["settings"] | {"floor": 0.5}).json()[
            "code"
        ]
        == "rollout"
    )
    before = local.request("GET", "/policies/shop.candidate").json()["events"]
    decide(local, 5)
    local.run(asyncio.sleep(0.1))
    assert local.request("GET", "/policies/shop.candidate").json()["events"] == before
    changes = local.request("GET", "/policies/shop/audit").json()["changes"]
    wanted = ["promoted", "ramp", "settings", "shadow", "candidate"]
    assert [one["what"] for one in changes][:5] == wanted


def test_steps_come_in_their_order(local):
    assert "the next step is 'evaluate'" in step(local, "shadow", 409)["detail"]
    assert "the next step is 'evaluate'" in step(local, "drop", 409)["detail"]
    step(local, "evaluate", 400)
    step(local, "evaluate", 400, candidate={"floor": 7.0})
    step(local, "evaluate", candidate=CANDIDATE)
    assert "the next step is 'shadow'" in step(local, "ramp", 409, steps=STEPS)["detail"]
    step(local, "shadow", 400, steps=STEPS)
    state = local.service.book.turns("shop").live.rollout.state
    state.promotion["step"] = "shadow"
    step(local, "ramp", 400)
    assert step(local, "ramp", 400, steps=[{"share": 2}])["code"] == "bad_request"
    assert local.request("GET", "/policies/shop").json()["settings"]["rule"] == "HierTS"
    state.promotion["candidate"] = {}
    assert step(local, "ramp", 409, steps=STEPS)["code"] == "same_settings"
    assert step(local, "drop")["step"] is None


def test_a_shadow_is_made_once_and_harms_nobody_when_it_is_gone(local):
    evaluated(local)
    state = local.service.book.turns("shop").live.rollout.state
    begun = dict(state.promotion)
    step(local, "shadow")
    state.promotion = dict(begun)
    assert step(local, "shadow", 409)["code"] == "exists"
    local.request("DELETE", "/policies/shop.candidate")
    step(local, "shadow")
    local.request("DELETE", "/policies/shop.candidate")
    assert len(decide(local, 3)) == 3
    assert local.request("GET", PATH).json()["shown"] == 0
    state.promotion = begun | {"evaluation": "forgotten"}
    assert "the next step is 'evaluate'" in step(local, "shadow", 409)["detail"]
