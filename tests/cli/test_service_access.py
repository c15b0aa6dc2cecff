"""How commands reach policies: a running service, or a folder of one that does not run."""

import asyncio

import pytest
from support.scripted_server import scripted
from typer import Exit

from hierbandits.cli.service_access import ask


def policies(client):
    return client.policies()


def test_a_folder_is_opened_without_a_token_and_let_go(tmp_path):
    from hierbandits.service.data_place import DataPlace

    DataPlace(tmp_path).tokens().create("one", ["read"], None, 0.0)
    for _ in range(2):
        made = ask(None, None, tmp_path, lambda client: client.put_policy("shop", {"arms": ["x"]}))
        assert made.version == 1
    assert [one.name for one in ask(None, None, tmp_path, policies)] == ["shop"]


def test_tokens_are_not_needed_for_a_folder_however_long_it_takes(tmp_path):
    from hierbandits.service.data_place import DataPlace

    DataPlace(tmp_path).tokens().create("one", ["read"], None, 0.0)

    async def slow(client):
        await asyncio.sleep(1.5)  # the service looks at its tokens each second
        return await client.policies()

    assert ask(None, None, tmp_path, slow) == []


def test_a_service_is_asked_with_the_token(monkeypatch):
    with scripted((200, [])) as script:
        assert ask(script.url, "secret", None, policies) == []
        monkeypatch.setenv("HIERBANDITS_URL", script.url)
        monkeypatch.setenv("HIERBANDITS_TOKEN", "other")
        assert ask(None, None, None, policies) == []
        tokens = [headers["authorization"] for _, _, headers, _ in script.asked]
    assert tokens == ["Bearer secret", "Bearer other"]


@pytest.mark.parametrize(
    ("url", "token", "data", "message"),
    [
        ("http://127.0.0.1:9", None, ".", "--data must be given without --url and --token"),
        (None, "secret", ".", "--data must be given without --url and --token"),
        (None, None, "none", "--data must be a folder, got"),
        ("nowhere", None, None, "url must be as in http://127.0.0.1:8080, got"),
        (None, "se cret", None, "token must be printable ASCII"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, capsys, url, token, data, message):
    with pytest.raises(Exit) as stop:
        ask(url, token, None if data is None else tmp_path / data, policies)
    assert stop.value.exit_code == 2
    error = capsys.readouterr().err
    assert error.startswith(f"Error: {message}")
    assert len(error.splitlines()) == 1
    assert "cret" not in error


def test_the_services_words_are_the_error(capsys):
    with scripted((401, {"detail": "a token must be given"})) as script, pytest.raises(Exit):
        ask(script.url, None, None, policies)
    assert capsys.readouterr().err == "Error: a token must be given\n"
