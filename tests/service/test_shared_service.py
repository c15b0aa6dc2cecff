"""Workers of one store in processes of their own: troubles, and nothing lost or counted twice."""

import asyncio

from support.local_services import LocalService
from support.shared_workers import SharedTroubles

from hierbandits.service.data_place import DataPlace
from hierbandits.service.doctor import doctor
from hierbandits.service.shared_service import SharedService


def test_two_workers_lose_nothing_and_count_nothing_twice(postgres, tmp_path):
    own = SharedTroubles(postgres, tmp_path, number=2, seed=1)
    try:
        for trouble in (own.kill_a_worker, own.kill_who_folds, own.cut_all):
            trouble(0.5)
        if postgres.is_own:
            own.restart(0.5)
        assert own.counts["acknowledged rewards"] > 0
        assert own.counts["folds cut"] > 0
        assert doctor(tmp_path / "none", store=own.url).faults == []
    finally:
        own.close()


def test_a_worker_is_ready_while_it_reaches_the_store(store_url, tmp_path):
    with LocalService(tmp_path, kind=SharedService, store=store_url) as local:
        assert local.request("GET", "/ready").json() == {"status": "ready"}
        assert local.request("GET", "/health").is_success
        local.service.links.url._parts["host"] = "/nowhere"
        local.service.links._let_go()
        assert local.request("GET", "/ready").status_code == 503
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
