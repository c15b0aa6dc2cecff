import pytest
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.flag_evaluation import Reason
from support.local_services import LocalService
from support.servers import Server

from hierbandits.service.shared_service import SharedService

FLAGS = "/ofrep/v1/evaluate/flags"


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        yield filled(local)


@pytest.fixture(params=["alone", "shared"])
def both(request, store_url, tmp_path):
    """A service alone, twice, or two workers that share the policies."""
    if request.param == "alone":
        with LocalService(tmp_path / "data") as one:
            filled(one)
            yield one, one
        return
    options = {"kind": SharedService, "store": store_url}
    with LocalService(tmp_path, **options) as one, LocalService(tmp_path, **options) as two:
        filled(one)
        yield one, two


def filled(local):
    put(local, "shop", arms=["red", "blue"])
    put(local, "size", arms=[10, 20])
    return local


def put(local, name, **settings):
    assert local.request("PUT", f"/policies/{name}", json=settings).status_code == 200


def asked(local, key="ada", flag="/shop", headers=None, **more):
    body = {"context": {"targetingKey": key} | more}
    return local.request("POST", FLAGS + flag, json=body, headers=headers)


def test_a_flag_is_a_decision_that_can_be_rewarded(local):
    reply = asked(local, page="home").json()
    assert reply["key"] == "shop"
    assert reply["value"] == reply["variant"]
    assert reply["value"] in ("red", "blue")
    assert reply["reason"] == "SPLIT"
    assert reply["metadata"]["version"] == 1
    assert reply["metadata"]["group"] == "policy"
    id = reply["metadata"]["id"]
    shown = local.request("GET", f"/policies/shop/decisions/{id}").json()
    assert (shown["task"], shown["arm"]) == ("ada", reply["value"])
    assert shown["propensity"] == reply["metadata"]["propensity"]
    told = local.request("POST", f"/policies/shop/decisions/{id}/reward", json={"value": 1})
    assert told.json()["status"] == "learned"


def test_a_variant_is_a_text_and_a_value_what_the_arm_is(local):
    reply = asked(local, flag="/size").json()
    assert reply["value"] in (10, 20)
    assert reply["variant"] == str(reply["value"])


def test_reasons_of_kept_and_held_out_tasks(local):
    put(local, "kept", arms=["a", "b"], sticky=True)
    assert asked(local, flag="/kept").json()["reason"] == "SPLIT"
    again = asked(local, flag="/kept").json()
    assert (again["reason"], again["metadata"]["group"]) == ("CACHED", "sticky")
    put(local, "held", arms=["a", "b"], control_share=1.0, control_arm="b")
    held = asked(local, flag="/held").json()
    assert (held["value"], held["reason"]) == ("b", "SPLIT")
    assert held["metadata"]["group"] == "control"


@pytest.mark.parametrize(
    ("flag", "content", "status", "code"),
    [
        ("/nope", b'{"context":{"targetingKey":"a"}}', 404, "FLAG_NOT_FOUND"),
        ("/shop", b"{}", 400, "TARGETING_KEY_MISSING"),
        ("/shop", b'{"context":{}}', 400, "TARGETING_KEY_MISSING"),
        ("/shop", b'{"context":{"targetingKey":""}}', 400, "TARGETING_KEY_MISSING"),
        ("/shop", b'{"context":{"targetingKey":5}}', 400, "INVALID_CONTEXT"),
        ("/shop", b'{"context":[1]}', 400, "INVALID_CONTEXT"),
        ("/shop", b'{"context":', 400, "PARSE_ERROR"),
        ("/shop", b"[]", 400, "PARSE_ERROR"),
        ("", b"{}", 400, "TARGETING_KEY_MISSING"),
        ("", b'{"context":7}', 400, "INVALID_CONTEXT"),
        ("", b"nope", 400, "PARSE_ERROR"),
    ],
)
def test_errors_are_those_of_ofrep(local, flag, content, status, code):
    reply = local.request("POST", FLAGS + flag, content=content)
    assert (reply.status_code, reply.json()["errorCode"]) == (status, code)
    assert reply.json()["errorDetails"]
    assert reply.json().get("key") == (flag[1:] or None)
    assert reply.headers["content-type"] == "application/json"


def test_a_policy_that_cannot_decide_for_this_context_says_so(local):
    put(local, "watch", arms=["a"], mode="shadow")
    reply = asked(local, flag="/watch")
    assert (reply.status_code, reply.json()["errorCode"]) == (400, "INVALID_CONTEXT")
    flags = {one["key"]: one for one in asked(local, flag="").json()["flags"]}
    assert flags["watch"]["errorCode"] == "INVALID_CONTEXT"
    assert flags["shop"]["value"] in ("red", "blue")


def test_all_flags_at_once_and_not_again_while_nothing_changes(both):
    one, two = both
    first = asked(one, flag="")
    assert [flag["key"] for flag in first.json()["flags"]] == ["shop", "size"]
    tag = first.headers["etag"]

    def events():
        return one.request("GET", "/policies/shop").json()["events"]

    before = events()
    again = asked(two, flag="", headers={"if-none-match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert events() == before
    assert asked(two, "bob", flag="", headers={"if-none-match": tag}).status_code == 200
    put(one, "shop", arms=["red", "blue"], floor=0.2)
    changed = asked(two, flag="", headers={"if-none-match": tag})
    assert changed.status_code == 200
    tags = {tag, changed.headers["etag"]}
    two.request("POST", "/policies/size/arms", json={"name": 30})
    tags.add(asked(one, flag="").headers["etag"])
    one.request("DELETE", "/policies/shop")
    put(one, "shop", arms=["red", "blue"])  # another policy of this name
    tags.add(asked(one, flag="").headers["etag"])
    one.request("DELETE", "/policies/size")
    last = asked(one, flag="")
    assert [flag["key"] for flag in last.json()["flags"]] == ["shop"]
    assert len(tags | {last.headers["etag"]}) == 5


def test_flags_of_others_are_not_seen(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:
        local.token = local.service.tokens.create("all", ["admin"], None, 0.0)
        put(local, "mine", arms=["x"])
        put(local, "theirs", arms=["x"])
        local.token = local.service.tokens.create("one", ["decide"], ["mine"], 0.0)
        assert [one["key"] for one in asked(local, flag="").json()["flags"]] == ["mine"]
        hidden, absent = asked(local, flag="/theirs"), asked(local, flag="/absent")
        assert hidden.status_code == absent.status_code == 404
        assert hidden.content.replace(b"theirs", b"absent") == absent.content


def test_flags_of_shared_policies_of_others_are_not_seen_either(store_url, tmp_path):
    options = {"kind": SharedService, "store": store_url, "needs_tokens": True}
    with LocalService(tmp_path, **options) as local:
        local.token = local.service.tokens.create("all", ["admin"], None, 0.0)
        filled(local)
        local.token = local.service.tokens.create("one", ["decide"], ["size"], 0.0)
        assert [one["key"] for one in asked(local, flag="").json()["flags"]] == ["size"]
        local.token = local.service.tokens.create("none", ["decide"], ["gone"], 0.0)
        assert asked(local, flag="").json()["flags"] == []


def test_openfeatures_own_provider_decides_through_a_server(tmp_path):
    with Server(tmp_path / "data", logs_evaluations=True) as server:
        admin = server.client()
        admin.put("/policies/shop", json={"arms": ["red", "blue"]}).raise_for_status()
        admin.put("/policies/size", json={"arms": [10, 20]}).raise_for_status()
        api.set_provider(OFREPProvider(server.url))
        try:
            client, ada = api.get_client(), EvaluationContext("ada", {"page": "home"})
            details = client.get_string_details("shop", "none", ada)
            assert details.value in ("red", "blue")
            assert (details.reason, details.error_code) == (Reason.SPLIT, None)
            id = details.flag_metadata["id"]
            reward = admin.post(f"/policies/shop/decisions/{id}/reward", json={"value": 1.0})
            assert reward.json()["status"] == "learned"
            assert client.get_integer_value("size", 0, ada) in (10, 20)
            missing = client.get_string_details("nope", "usual", ada)
            assert (missing.value, missing.error_code.value) == ("usual", "FLAG_NOT_FOUND")
            nobody = client.get_string_details("shop", "usual", EvaluationContext())
            assert (nobody.value, nobody.error_code.value) == ("usual", "TARGETING_KEY_MISSING")
            wrong = client.get_string_details("size", "usual", ada)
            assert (wrong.value, wrong.error_code.value) == ("usual", "TYPE_MISMATCH")
        finally:
            api.shutdown()
            api.clear_providers()
        events = [one for one in server.lines() if one["message"] == "feature_flag.evaluation"]
        assert [one["feature_flag.key"] for one in events] == ["shop", "size", "size"]
        assert events[0]["feature_flag.result.variant"] == details.variant
        assert events[0]["feature_flag.context.id"] == "ada"
