import json

import pytest
from support.local_services import LocalService

from hierbandits.dashboard.page_files import PAGE, page_file


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/p", json={"arms": ["a", "b"], "draws": 5})
        yield local


def decide(local, task="t"):
    reply = local.request("POST", "/policies/p/decisions", json={"task": task})
    return reply.json()["id"]


def test_the_page_and_its_parts_are_served_and_nothing_else(local):
    page = local.request("GET", "/dashboard")
    assert page.content == page_file(PAGE)[0]
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    script = local.request("GET", "/dashboard/main.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert local.request("GET", "/dashboard/secrets.js").status_code == 404
    assert local.request("GET", "/dashboard/..%2Fpage_files.py").status_code == 404
    assert local.request("GET", "/").headers["location"] == "dashboard"


def test_whoever_has_it_already_is_told_just_that(local):
    for path in ("history", "recent", "population"):
        first = local.request("GET", f"/policies/p/{path}")
        mark = {"if-none-match": first.headers["etag"]}
        again = local.request("GET", f"/policies/p/{path}", headers=mark)
        assert (again.status_code, again.content) == (304, b"")
    decide(local)
    assert local.request("GET", "/policies/p/history", headers=mark).status_code == 200


def test_a_decision_is_told_again_with_its_reward(local):
    id = decide(local, "a <b>")
    local.request("POST", f"/policies/p/decisions/{id}/reward", json={"value": 1.0})
    told = local.request("GET", f"/policies/p/decisions/{id}/account").json()
    assert told["problem"] is None
    assert told["decision"]["reward"] == 1.0
    assert (told["label"], told["key"]) == ("a <b>", '"a <b>"')
    assert local.request("GET", "/policies/p/decisions/x/account").status_code == 404


def test_the_population_and_a_task_say_where_beliefs_come_from(local):
    empty = local.request("GET", "/policies/p/population").json()
    assert [row["within_var"] for row in empty["rows"]] == [None, None]
    id = decide(local)
    local.request("POST", f"/policies/p/decisions/{id}/reward", json={"value": 2.0})
    known = local.request("GET", "/policies/p/population").json()["rows"]
    rows = local.request("GET", "/policies/p/tasks/t").json()["rows"]
    for row, common in zip(rows, known, strict=True):
        assert row["population_mean"] == common["mean"]
        assert row["own_mean"] == (2.0 if row["rewards"] else None)
        assert common["within_var"] == pytest.approx(row["within_var"])


def test_tasks_have_rows_if_asked_for(local):
    for name in ("x", "y", "xy"):
        decide(local, name)
    found = local.request("GET", "/policies/p/tasks?detail=true&search=X&sort=newest").json()
    assert [row["label"] for row in found["rows"]] == ["xy", "x"]
    assert found["rows"][0]["decisions"] == 1
    assert "rows" not in local.request("GET", "/policies/p/tasks").json()
    assert local.request("GET", "/policies/p/tasks?sort=best").status_code == 400
    assert local.request("GET", "/policies/p/recent?limit=-1").status_code == 400


def test_a_deleted_task_is_gone_from_the_history_too(local, tmp_path):
    decide(local, "kept")
    id = decide(local, "gone")
    assert local.request("GET", "/policies/p/history").json()["counts"]["decisions"] == 2
    local.request("DELETE", "/policies/p/tasks/gone")
    assert local.request("GET", "/policies/p/history").json()["counts"]["decisions"] == 1
    recent = local.request("GET", "/policies/p/recent").json()
    assert [one["label"] for one in recent["decisions"]] == ["kept"]
    assert local.request("GET", f"/policies/p/decisions/{id}/account").status_code == 404


def test_other_tenants_see_nothing(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:
        tokens = local.service.tokens
        admin = tokens.create("admin", ["admin"], None, 0.0)
        reader = tokens.create("reader", ["read"], ["mine"], 0.0)
        writer = tokens.create("writer", ["decide"], ["mine"], 0.0)
        for name in ("mine", "theirs"):
            local.request("PUT", f"/policies/{name}", admin, json={"arms": ["a"]})
        for path in ("history", "recent", "population"):
            assert local.request("GET", f"/policies/mine/{path}", reader).status_code == 200
            theirs = local.request("GET", f"/policies/theirs/{path}", reader)
            absent = local.request("GET", f"/policies/nobody/{path}", reader)
            assert theirs.status_code == absent.status_code == 404
            assert local.request("GET", f"/policies/mine/{path}", writer).status_code == 403
            assert local.request("GET", f"/policies/mine/{path}").status_code == 401
        assert local.request("GET", "/dashboard").status_code == 200
        assert reader not in json.dumps(local.request("GET", "/policies", reader).json())
