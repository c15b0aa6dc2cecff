"""The command `hierbandits serve`: it serves, stops, and says what is wrong in one line."""

import json
import signal
import time

import pytest
from support.processes import command, python
from support.served_commands import serving

import hierbandits as hb


def test_a_folder_is_served_stopped_and_served_again(tmp_path):
    data = tmp_path / "new" / "data"
    data.parent.mkdir()
    with serving(data, "--log-requests") as served, hb.Client(served.url, timeout=120) as client:
        client.put_policy("shop", {"arms": ["x", "y"]})
        decision = client.decide("shop", "north")
        second = command("serve", "--data", data, "--port", "0")
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr.startswith("Error: data folder must not be in use")
        assert len(second.stderr.splitlines()) == 1
        refused = command("policy", "list", "--data", data)
        assert "must not be in use" in refused.stderr
        listed = command("policy", "list", "--url", served.url)
        assert listed.stdout.splitlines()[1].split() == ["shop", "1", "1", "0", "1"]
        assert served.end(signal.SIGTERM) in (0, -signal.SIGTERM)
        lines = [json.loads(line) for line in served.log.splitlines()]
        assert [line["operation"] for line in lines if line["message"] == "request"][:2] == [
            "put_policy", "decide",
        ]  # fmt: skip
        assert lines[-1]["message"] != "request"
    with serving(data) as served, hb.Client(served.url, timeout=120) as client:
        assert client.reward("shop", decision.id, 1.0).status == "learned"
        assert served.end(signal.SIGINT) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "host must be a loopback address while there are no tokens"),
        (["--data", "/dev/null/x"], "Not a directory"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, options, message):
    refused = command("serve", "--data", tmp_path / "data", "--port", "0", *options)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_the_extra_that_is_missing_is_named(tmp_path):
    (tmp_path / "uvicorn.py").write_text("raise ImportError('no uvicorn')")
    missing = python("-m", "hierbandits", "serve", "--data", tmp_path, path=tmp_path)
    assert missing.returncode == 2
    assert "needs uvicorn (no uvicorn): pip install 'hierbandits[serve]'" in missing.stderr


def test_a_demonstration_fills_a_folder_of_its_own_and_leaves_nothing(tmp_path, monkeypatch):
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    with (
        serving(None, "--demo", log=tmp_path / "log") as served,
        hb.Client(served.url, timeout=120) as client,
    ):
        while not (found := client.policies()):
            time.sleep(0.1)
        assert [policy.name for policy in found] == ["demo-shop"]
        assert [path.name[:17] for path in room.iterdir()] == ["hierbandits-demo-"]
        assert served.end(signal.SIGTERM) == 0
    assert list(room.iterdir()) == []
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    refused = command("serve", "--demo", "--data", tmp_path / "full", "--port", "0")
    assert "must be a new folder" in refused.stderr
    assert "--data must be given" in command("serve").stderr


def test_workers_share_a_store_and_no_folder(tmp_path):
    for words in (("--data", tmp_path), ("--demo",)):
        refused = command("serve", *words, "--shared")
        assert refused.returncode == 2
        assert "--shared must come with --store, a database, and without --demo" in refused.stderr
