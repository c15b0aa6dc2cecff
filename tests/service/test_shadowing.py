"""A shadow is shown what a policy decides, as long as it can follow."""

import asyncio

import pytest
from support.local_services import LocalService

from hierbandits.service import shadowing


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        for name, mode in (("p", "live"), ("q", "shadow")):
            settings = {"arms": ["x", "y"], "draws": 5, "mode": mode}
            local.request("PUT", f"/policies/{name}", json=settings)
        state = local.service.book.turns("p").live.rollout.state
        state.promotion = {"step": "shadow", "shadow": "q"}
        yield local


def decide(local, **body):
    made = local.request("POST", "/policies/p/decisions", json={"task": "t", **body}).json()
    local.run(asyncio.sleep(0.05))
    return made


def seen(local):
    return local.request("GET", "/policies/q").json()["pending"]


def test_what_is_decided_is_shown_once(local):
    made = decide(local, id="a")
    decide(local, id="a")
    assert seen(local) == 1
    shown = local.request("GET", "/policies/q/decisions/a").json()
    assert (shown["arm"], shown["group"]) == (made["arm"], "shadow")


def test_a_policy_that_is_no_shadow_is_shown_nothing(local):
    local.request("PUT", "/policies/q", json={"arms": ["x", "y"], "draws": 5})
    decide(local)
    assert seen(local) == 0


def test_a_shadow_that_cannot_follow_is_shown_nothing_more(local, monkeypatch):
    monkeypatch.setattr(shadowing, "MOST_WAITING", 0)
    decide(local)
    assert seen(local) == 0


def test_a_shadow_that_fails_harms_nobody(local):
    local.service.book.turns("q").is_paused = True
    assert decide(local)["arm"] in ("x", "y")
    local.service.book.turns("q").is_paused = False
    assert seen(local) == 0
