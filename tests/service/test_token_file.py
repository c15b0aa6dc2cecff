"""Tokens in a file: who can read it, and what damage does."""

import json
import stat

import pytest

from hierbandits.service.token_book import SCOPES, TokenBook
from hierbandits.service.token_file import TokenFile


@pytest.fixture
def tokens(tmp_path):
    return TokenBook(TokenFile(tmp_path / "tokens.json"))


def test_a_file_that_is_deleted_holds_no_tokens(tokens, tmp_path):
    tokens.create("shop", ["read"], None, now=0.0)
    (tmp_path / "tokens.json").unlink()
    tokens.refresh()
    assert tokens.all() == []


def test_the_file_keeps_no_secret_and_only_its_owner_reads_it(tokens, tmp_path):
    secret = tokens.create("shop", list(SCOPES), None, now=0.0)
    path = tmp_path / "tokens.json"
    assert secret.partition(".")[2] not in path.read_text()
    assert len(secret.partition(".")[2]) >= 43  # 256 bits
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(bytes.fromhex(json.loads(path.read_text())[0]["digest"])) == 32


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'[{"name":"a"}]', b"\xff"])
def test_a_damaged_file_is_named(tmp_path, data):
    path = tmp_path / "tokens.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"tokens\.json is not a sound file of tokens"):
        TokenBook(TokenFile(path))


def test_a_damaged_file_leaves_the_tokens_that_were_known(tokens, tmp_path):
    text = tokens.create("shop", ["read"], None, now=0.0)
    (tmp_path / "tokens.json").write_bytes(b"[")
    with pytest.raises(ValueError, match="sound file"):
        tokens.refresh()
    assert tokens.find(text, now=1.0) is not None
