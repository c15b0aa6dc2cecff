"""The command `hierbandits move`: there and back, and what it refuses."""

import json

from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app
from hierbandits.service.shared_service import SharedService


def move(data, to, *words):
    return CliRunner().invoke(app, ["move", "--data", str(data), "--to", to, *words])


def test_a_folder_goes_to_a_store_and_back(tmp_path, store_url):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
        local.request("POST", "/policies/shop/decisions", json={"task": "t", "id": "one"})
    there = move(tmp_path / "data", "store", "--store", store_url)
    assert there.exit_code == 0, there.output
    assert there.stdout.splitlines()[1].split() == ["shop", "1", "2"]
    assert "event by event" in there.stdout
    back = move(tmp_path / "back", "folder", "--store", store_url, "--json")
    told = json.loads(back.stdout)
    assert told["policies"] == [{"name": "shop", "versions": 1, "events": 2, "was_there": False}]
    assert told["to"] == str(tmp_path / "back")
    with LocalService(tmp_path / "back") as local:
        again = {"task": "t", "id": "one"}
        reply = local.request("POST", "/policies/shop/decisions", json=again)
        assert reply.json()["duplicate"]
        served = move(tmp_path / "back", "store", "--store", store_url)
        assert "must not be in use" in served.stderr


def test_what_is_wrong_is_one_line(tmp_path, store_url):
    for result, words in (
        (move(tmp_path, "store"), "--store must be given"),
        (move(tmp_path, "store", "--store", store_url), "must be a data folder"),
        (move(tmp_path, "store", "--store", "postgresql://a:hush@[/x"), "cannot be read"),
    ):
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert words in result.stderr
        assert "hush" not in result.stderr


def test_a_folder_goes_to_workers_that_share_a_store_and_back(tmp_path, store_url):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
        local.request("POST", "/policies/shop/decisions", json={"task": "t", "id": "one"})
    there = move(tmp_path / "data", "store", "--store", store_url, "--shared")
    assert there.exit_code == 0, there.output
    assert "decision by decision" in there.stdout
    with LocalService(tmp_path, kind=SharedService, store=store_url) as worker:
        path = "/policies/shop/decisions/one/reward"
        assert worker.request("POST", path, json={"value": 1.0}).json()["status"] == "learned"
        served = move(tmp_path / "back", "folder", "--store", store_url, "--shared")
        assert (served.exit_code, len(served.stderr.splitlines())) == (2, 1)
        assert "no worker may serve" in served.stderr
    back = move(tmp_path / "back", "folder", "--store", store_url, "--shared", "--json")
    assert json.loads(back.stdout)["policies"] == [
        {"name": "shop", "versions": 1, "events": 2, "was_there": False}
    ]
    with LocalService(tmp_path / "back") as local:
        assert local.request("GET", "/policies/shop/decisions/one").json()["reward"] == 1.0
    again = move(tmp_path / "data", "store", "--store", store_url, "--shared")
    assert (again.exit_code, "has another policy 'shop'" in again.stderr) == (2, True)
