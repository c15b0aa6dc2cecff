"""Workers of one store in processes of their own: troubles, and nothing lost or counted twice."""

import asyncio

import pytest
from support.local_services import LocalService
from support.postgres_servers import database_of
from support.shared_workers import SharedTroubles

from hierbandits.service.data_place import DataPlace
from hierbandits.service.doctor import doctor
from hierbandits.service.shared_service import SharedService


@pytest.mark.parametrize("kind", ["armed", "clicks", "clicks by features"])
def test_two_workers_lose_nothing_and_count_nothing_twice(postgres, tmp_path, kind):
    own = SharedTroubles(postgres, tmp_path, number=2, seed=1, kind=kind)
    try:
        for trouble in (own.kill_a_worker, own.kill_who_folds, own.cut_who_folds, own.cut_all):
            trouble(0.5)
        if postgres.is_own:
            own.restart(0.5)
        assert own.counts["acknowledged rewards"] > 0
        assert own.counts["folds cut"] > 0
        assert own.counts["folders killed"] > 0
        assert doctor(tmp_path / "none", store=own.url).faults == []
    finally:
        own.close()


def test_a_worker_is_ready_while_it_reaches_the_store(store_url, tmp_path):
    with LocalService(tmp_path, kind=SharedService, store=store_url) as local:
        assert local.request("GET", "/ready").json() == {"status": "ready"}
        assert local.request("GET", "/health").is_success
        local.service.links.url._parts["host"] = "/nowhere"
        local.service.links._let_go()
        answer = local.request("GET", "/ready")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["detail"] == "the store cannot be used: the log says why"
        answer = local.request("GET", "/policies")
        assert (answer.status_code, answer.json()["code"]) == (503, "storage_failed")


def test_tokens_of_the_store_are_needed_as_soon_as_there_are_any(store_url, tmp_path):
    options = {"kind": SharedService, "store": store_url, "needs_tokens": None}
    with LocalService(tmp_path, **options) as local:
        assert local.request("GET", "/policies").json() == []
        tokens = DataPlace(tmp_path, store_url).tokens()
        secret = tokens.create("all", ("admin",), None, 0.0, None)
        tokens.close()
        local.run(asyncio.sleep(1.5))
        assert local.request("GET", "/policies").status_code == 401
        assert local.request("GET", "/policies", token=secret).json() == []
        assert b"hierbandits_requests" in local.request("GET", "/metrics", token=secret).content


def test_a_worker_is_not_ready_while_nothing_can_be_stored(store_url, tmp_path, postgres):
    with LocalService(tmp_path, kind=SharedService, store=store_url) as local:
        for words, status in (("SET", 503), ("RESET", 200)):
            with postgres.admin() as admin:
                option = "default_transaction_read_only" + (" = on" if words == "SET" else "")
                admin.execute(f"ALTER DATABASE {database_of(store_url)} {words} {option}")
            postgres.cut(store_url)
            answer = local.request("GET", "/ready")
            assert answer.status_code == status
            if status == 503:
                assert answer.json()["detail"] == "the store can only be read now"


def test_a_worker_that_is_too_old_for_the_tables_asks_to_try_again_and_says_why(
    store_url, tmp_path, caplog
):
    with LocalService(tmp_path, kind=SharedService, store=store_url) as local:
        settings = {"arms": ["a", "b"]}
        assert local.request("PUT", "/policies/shop", json=settings).status_code == 200
        made = local.request("POST", "/policies/shop/decisions", json={"task": "t"}).json()
        local.service.links.read("INSERT INTO migrations VALUES (99, 99) RETURNING number")
        local.service.links._let_go()
        for method, path, body in (
            ("POST", f"/policies/shop/decisions/{made['id']}/reward", {"value": 1.0}),
            ("POST", "/policies/shop/decisions", {"task": "t"}),
            ("PUT", "/policies/new", settings),
        ):
            answer = local.request(method, path, json=body)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert local.request("GET", "/ready").status_code == 503
    said = [record.parts for record in caplog.records if record.levelname == "ERROR"]
    assert len(said) == 3
    assert all("use a newer hierbandits" in parts["error"] for parts in said)
