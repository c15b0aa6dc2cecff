import pytest
from support.local_services import LocalService

from hierbandits.service.dashboard_operations import PAGES
from hierbandits.service.service_app import OPERATIONS


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        yield local


def test_operations_have_names_of_their_own_and_ask_for_a_scope():
    assert len({one.name for one in OPERATIONS}) == len(OPERATIONS)
    assert len({(one.method, one.path) for one in OPERATIONS}) == len(OPERATIONS)
    free = {one.name for one in OPERATIONS if one.scope is None}
    assert free <= {"health", "ready", "openapi", "docs"}
    names = {one.name for one in [*OPERATIONS, *PAGES]}
    assert len(names) == len(OPERATIONS) + len(PAGES)
    assert all(one.summary.endswith(".") for one in OPERATIONS)


def test_the_process_lives_and_is_ready(local):
    assert local.request("GET", "/health").json() == {"status": "alive"}
    assert local.request("GET", "/ready").json() == {"status": "ready"}


def test_a_service_whose_policies_are_being_loaded_is_not_ready(local):
    local.request("PUT", "/policies/p", json={"arms": ["x"]})
    (turns,) = local.service.book.all_turns
    turns.is_lost = True
    reply = local.request("GET", "/ready")
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert local.request("GET", "/health").status_code == 200
    turns.is_lost = False


def test_an_unknown_path_is_a_problem_too(local):
    reply = local.request("GET", "/nope")
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    assert reply.headers["content-type"] == "application/problem+json"


def test_a_wrong_method_says_which_are_right(local):
    reply = local.request("PATCH", "/policies")
    assert (reply.status_code, reply.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in reply.headers["allow"]


def test_metrics_are_for_those_who_see_all_policies(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:
        tokens = local.service.tokens
        everywhere = tokens.create("all", ["read"], None, 0.0)
        bound = tokens.create("some", ["read"], ["p"], 0.0)
        assert local.request("GET", "/metrics", everywhere).status_code == 200
        assert local.request("GET", "/metrics", bound).status_code == 403
        assert local.request("GET", "/metrics").status_code == 401
