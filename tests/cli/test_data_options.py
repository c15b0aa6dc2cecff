"""Folders and stores on the command line: which is used, and that no secret is printed."""

import json
import os
import signal
import time

import pytest
from support.processes import command
from support.served_commands import serving
from typer.testing import CliRunner

import hierbandits as hb
from hierbandits.cli import app


def run(*words, **env):
    return CliRunner().invoke(app, [str(word) for word in words], env=env)


def test_commands_take_a_store_and_leave_no_folder(store_url, tmp_path, monkeypatch):
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setenv("TMPDIR", str(room))
    with (
        serving(None, "--store", store_url, log=tmp_path / "log") as served,
        hb.Client(served.url, timeout=120) as client,
    ):
        client.put_policy("shop", {"arms": ["x", "y"]})
        decision = client.decide("shop", "north")
        client.reward("shop", decision.id, 1.0)
        sound = run("doctor", "--store", store_url, "--json")
        assert sound.exit_code == 0, sound.output
        (policy,) = json.loads(sound.stdout)["policies"]
        assert (policy["name"], policy["decisions"], policy["rewards"]) == ("shop", 1, 1)
        told = run("policy", "explain", "shop", decision.id, HIERBANDITS_STORE=store_url)
        assert told.exit_code == 0, told.output
        made = run("token", "create", "ops", "--scope", "admin", "--store", store_url)
        assert made.stdout.startswith("hb_ops.")
        listed = run("token", "list", "--store", store_url, "--json")
        assert [one["name"] for one in json.loads(listed.stdout)] == ["ops"]
        assert run("token", "revoke", "ops", "--store", store_url).exit_code == 0
        assert served.end(signal.SIGTERM) in (0, -signal.SIGTERM)
    assert os.listdir(room) == []


def test_no_log_line_has_the_password_whatever_fails(store_url, postgres, tmp_path, monkeypatch):
    if not postgres.is_own:
        pytest.skip("the server of others is not stopped")
    user, at, rest = store_url.rpartition("@")
    monkeypatch.setenv("HIERBANDITS_STORE", f"{user}:hu%2Fsh{at}{rest}")
    with (
        serving(None, "--log-requests", log=tmp_path / "log") as served,
        hb.Client(served.url, timeout=120) as client,
    ):
        client.put_policy("shop", {"arms": ["x", "y"]})
        for _ in range(3):
            postgres.cut(store_url)
            client.decide("shop", "north")  # which is asked again until it is answered
        postgres.stop()
        try:
            time.sleep(3.0)  # signs of life fail, and say so
        finally:
            postgres.start()
        assert "the store cannot be written" in served.log
        assert "hu/sh" not in served.log
        assert "hu%2Fsh" not in served.log


@pytest.mark.parametrize("words", [["doctor"], ["token", "list"], ["policy", "explain", "p", "id"]])
def test_a_folder_or_a_store_must_be_given(words):
    result = run(*words, HIERBANDITS_STORE=None)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "--data must be given, a folder, or --store, a database" in result.stderr


@pytest.mark.parametrize(
    ("store", "words"),
    [
        ("postgresql://ann:hush@[/db", "cannot be read; it may hold a password"),
        ("mysql://ann:hush@host/db", "store must be an address such as postgresql://"),
        ("postgresql://ann:hush@/db?host=/nowhere", "cannot be read or written"),
    ],
)
def test_what_is_wrong_with_a_store_is_one_line_without_its_secret(store, words):
    for result in (
        command("serve", "--store", store, "--port", "0"),
        command("token", "list", "--store", store),
    ):
        assert result.returncode == 2
        assert words in result.stderr
        assert "hush" not in result.stderr + result.stdout
        assert len(result.stderr.splitlines()) == 1


def test_a_demonstration_has_a_folder():
    result = run("serve", "--demo", "--store", "postgresql://host/db")
    assert "--store must not be given with --demo" in result.stderr
