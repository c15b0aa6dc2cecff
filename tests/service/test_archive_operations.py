"""Policies, logs and folders as files, over HTTP."""

import io
import shutil

import polars as pl
import pytest
from support.local_services import LocalService

from hierbandits import Agent
from hierbandits.service.doctor import doctor


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/p", json={"arms": ["x", "y"], "draws": 5})
        for i in range(12):
            made = local.request(
                "POST", "/policies/p/decisions", json={"task": f"t{i % 3}", "id": f"é{i}"}
            )
            assert made.status_code == 200
            if i % 2:
                local.request("POST", "/policies/p/rewards", json=reward(f"é{i}", float(i)))
        yield local


def reward(id, value):
    return {"rewards": [{"id": id, "value": value}]}


def shown(local, policy):
    found = local.request("GET", f"/policies/{policy}/tasks/t1").json()
    return found["rows"]


def test_a_policy_goes_out_and_comes_in_under_another_name(local, tmp_path):
    answer = local.request("GET", "/policies/p/export")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    made = local.request("POST", "/policies/q/import", content=answer.content)
    assert made.json() == {"name": "q", "version": 1, "created": True}
    assert shown(local, "q") == shown(local, "p")
    for value, status in ((2.0, "learned"), (2.0, "duplicate")):
        answer = local.request("POST", "/policies/q/rewards", json=reward("é0", value))
        assert answer.json()["rewards"][0]["status"] == status
    assert shown(local, "q") != shown(local, "p")
    assert doctor(tmp_path / "data").is_sound
    again = local.request("POST", "/policies/q/import", content=b"PK")
    assert again.status_code == 400


def test_what_is_no_archive_or_has_no_room_is_refused(local):
    archive = local.request("GET", "/policies/p/export").content
    assert local.request("POST", "/policies/p/import", content=archive).status_code == 409
    for data in (b"", b"{}", archive[:100], archive[:-30]):
        answer = local.request("POST", "/policies/new/import", content=data)
        assert answer.status_code == 400, answer.text
        assert "archive must be" in answer.json()["detail"] or "damaged" in answer.text
    assert local.request("POST", "/policies/a%20b/import", content=archive).status_code == 400
    assert local.request("GET", "/policies/nobody/export").status_code == 404
    assert local.request("GET", "/policies/nobody/log").status_code == 404
    assert [one["name"] for one in local.request("GET", "/policies").json()] == ["p"]


def test_an_agents_file_becomes_a_policy(local, tmp_path):
    agent = Agent(arms=["x", "y"], seed=1, journal=lambda event: None)
    for i in range(10):
        agent.reward(agent.decide(f"t{i % 2}").id, float(i))
    agent.save(tmp_path / "agent.hb")
    data = (tmp_path / "agent.hb").read_bytes()
    assert local.request("POST", "/policies/q/import", content=data).status_code == 200
    assert local.request("GET", "/policies/q").json()["rewards"] == 10


def test_the_log_is_parquet(local):
    answer = local.request("GET", "/policies/p/log")
    assert answer.headers["content-disposition"] == 'attachment; filename="p.parquet"'
    frame = pl.read_parquet(io.BytesIO(answer.content))
    assert frame["reward"].to_list() == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
    answer = local.request("GET", "/policies/p/log?every=true")
    assert len(pl.read_parquet(io.BytesIO(answer.content))) == 12
    assert local.request("GET", "/policies/p/log?every=1").status_code == 400
    local.request("POST", "/policies/p/decisions", json={"task": "7", "id": "m"})
    local.request("POST", "/policies/p/decisions", json={"task": 7, "id": "n"})
    assert local.request("GET", "/policies/p/log?every=true").json()["code"] == "names_alike"


def test_no_file_is_left_in_the_folder(local, tmp_path):
    before = sorted(path.name for path in (tmp_path / "data").iterdir())
    local.request("GET", "/policies/p/export")
    local.request("GET", "/policies/p/log")
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == before


def test_a_backup_is_a_folder_to_serve(local, tmp_path):
    answer = local.request("POST", "/backup")
    assert answer.status_code == 200
    assert answer.json()["bytes"] > 1000
    shutil.copytree(answer.json()["folder"], tmp_path / "restored")
    with LocalService(tmp_path / "restored") as other:
        assert shown(other, "p") == shown(local, "p")
    assert doctor(tmp_path / "restored").is_sound


def test_only_who_may_do_all_may_move_files(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:
        texts = {
            name: local.service.tokens.create(name, [scope], policies, local.service.clock())
            for name, scope, policies in (
                ("one", "admin", ["p"]),
                ("all", "admin", None),
                ("read", "read", None),
            )
        }
        put = {"json": {"arms": ["x"]}}
        assert local.request("PUT", "/policies/p", texts["one"], **put).status_code == 200
        assert local.request("POST", "/backup", texts["one"]).status_code == 403
        assert local.request("POST", "/backup", texts["read"]).status_code == 403
        assert local.request("POST", "/backup", texts["all"]).status_code == 200
        assert local.request("GET", "/policies/p/export", texts["read"]).status_code == 403
        assert local.request("GET", "/policies/p/log", texts["read"]).status_code == 200
        data = local.request("GET", "/policies/p/export", texts["one"]).content
        answer = local.request("POST", "/policies/q/import", texts["one"], content=data)
        assert answer.status_code == 404
