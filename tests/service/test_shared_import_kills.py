"""kill -9 in the middle of an import: nothing of it is there, and another worker does it."""

import threading
from contextlib import closing

import httpx
import msgspec
from support.held_moments import HeldMoments
from support.shared_archives import rows_of
from support.shared_stores import SETTINGS, books
from support.shared_workers import SharedWorkers

from hierbandits.service.shared_check import check_shared

SHOP, COPY = "/policies/shop", "/policies/copy"


def test_a_killed_import_leaves_nothing_and_another_worker_does_it(store_url, tmp_path):
    workers = SharedWorkers(tmp_path, store_url, 2).start()
    try:
        other = workers.servers[1].client()
        assert other.put(SHOP, json=msgspec.to_builtins(SETTINGS["armed"])).is_success
        for i in range(20):
            id = other.post(f"{SHOP}/decisions", json={"task": f"t{i % 3}"}).json()["id"]
            other.post(f"{SHOP}/decisions/{id}/reward", json={"value": i / 7})
        workers.wait_until_folded()  # then only an import writes a generation
        data, moments = other.get(f"{SHOP}/export").content, HeldMoments(store_url)
        with closing(other), books(store_url) as (book,):
            before = rows_of(book.links)
            for when in ("a decision is written", "a generation is written"):
                url, cut = workers.servers[0].url, []

                def begin(url=url, cut=cut):
                    try:
                        httpx.post(f"{url}{COPY}/import", content=data, timeout=60)
                    except httpx.TransportError as error:
                        cut.append(error)

                asked = threading.Thread(target=begin)
                assert workers.kill_at(moments, when, asked.start) == 0
                asked.join()
                workers.servers[0].start()
                assert len(cut) == 1
                assert rows_of(book.links) == before
                assert other.get(COPY).status_code == 404
            assert other.post(f"{COPY}/import", content=data).is_success
        for server in workers.servers:
            with server.client() as client:
                one, two = (client.get(f"{path}/tasks/t1").json() for path in (SHOP, COPY))
                assert [row["rewards"] for row in one["rows"]] == [
                    row["rewards"] for row in two["rows"]
                ]
                for row, its in zip(one["rows"], two["rows"], strict=True):
                    assert abs(row["mean"] - its["mean"]) < 1e-9
        assert [fault for health in check_shared(store_url) for fault in health.faults] == []
    finally:
        workers.kill()
