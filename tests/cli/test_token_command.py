"""The commands `hierbandits token`: the secret is shown once, and kept nowhere."""

import json
import time

import pytest
from typer.testing import CliRunner

from hierbandits.cli import app
from hierbandits.service.data_place import DataPlace


@pytest.fixture
def token(tmp_path):
    def run(*words):
        result = CliRunner().invoke(app, ["token", *words, "--data", str(tmp_path / "data")])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return run


def test_a_token_is_made_listed_and_revoked(token, tmp_path):
    made = token("create", "web", "--scope", "decide", "--scope", "reward", "--policy", "shop")
    assert made.exit_code == 0, made.output
    secret = made.stdout.strip()
    token("create", "ops", "--scope", "admin", "--days", "2")
    file = DataPlace(tmp_path / "data").tokens()
    found = file.find(secret, time.time())
    assert (found.name, found.scopes, found.policies) == ("web", ["decide", "reward"], ["shop"])
    rows = [line.split() for line in token("list").stdout.splitlines()]
    assert rows[0] == ["token", "scopes", "policies", "expires"]
    assert rows[1][:3] == ["ops", "admin", "all"]
    assert rows[2] == ["web", "decide,", "reward", "shop", "never"]
    told = json.loads(token("list", "--json").stdout)
    assert told[0]["expires"] - told[0]["created"] == pytest.approx(2 * 86_400)
    everything = (tmp_path / "data" / "tokens.json").read_text() + str(told)
    assert secret.partition(".")[2] not in everything
    assert "digest" not in str(told)
    assert token("revoke", "web").exit_code == 0
    file.refresh()
    assert file.find(secret, time.time()) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create", "a b", "--scope", "read"], "name must be letters"),
        (["create", "web", "--scope", "all"], "scopes must be some of"),
        (["create", "ops", "--scope", "read"], "revoke that first"),
        (["revoke", "nobody"], "name must be of a token, got 'nobody'"),
    ],
)
def test_what_is_wrong_is_one_line(token, words, message):
    assert token("create", "ops", "--scope", "admin").exit_code == 0
    result = token(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_without_tokens(token, tmp_path):
    assert "--data must be a folder" in token("list").stderr
    assert not (tmp_path / "data").exists()
    (tmp_path / "data").mkdir()
    assert token("list").stdout.startswith("No tokens: the service answers on this machine alone")


def test_a_link_to_the_page_carries_the_secret_where_no_server_sees_it(token):
    words = ["--scope", "read", "--link", "https://bandits.example/"]
    whole = token("create", "boss", *words).stdout.strip()
    assert whole.startswith("https://bandits.example/dashboard#token=hb_boss.")
    one = json.loads(token("create", "guest", "--policy", "shop", *words, "--json").stdout)
    assert one["link"].startswith("https://bandits.example/dashboard#/policy/shop?token=hb_guest.")
    assert one["link"].endswith(one["token"])
    refused = token("create", "x", "--scope", "decide", "--link", "http://a")
    assert refused.exit_code == 2
    assert "read alone" in refused.output
