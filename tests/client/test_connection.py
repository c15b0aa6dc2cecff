"""Where the service is, and the token, which no text shows."""

import pickle

import pytest

from hierbandits.client.connection import URL, connection

SECRET = "hb_one.abcdefghijk"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("HIERBANDITS_URL", "HIERBANDITS_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def test_what_is_given_comes_before_the_environment(monkeypatch):
    assert connection(None, None, 1.0).url == URL
    monkeypatch.setenv("HIERBANDITS_URL", "https://bandits.example/api/")
    monkeypatch.setenv("HIERBANDITS_TOKEN", SECRET)
    found = connection(None, None, 1.0)
    assert found.url == "https://bandits.example/api"
    assert found.headers["authorization"] == f"Bearer {SECRET}"
    given = connection("http://localhost:1", "other", 1.0)
    assert (given.url, given.token) == ("http://localhost:1", "other")


def test_the_token_is_in_no_text():
    found = connection("http://localhost:1", SECRET, 1.0)
    assert SECRET not in f"{found} {found!r}"
    assert repr(found) == "http://localhost:1, with a token"
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("token", [f"{SECRET}\n", f"{SECRET} x", f"{SECRET}ü", f"{SECRET}\x00"])
def test_a_token_that_is_no_header_is_refused_and_not_shown(token):
    with pytest.raises(ValueError, match="token must be printable ASCII") as error:
        connection(None, token, 1.0)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x", "http://", "http://x?y=1", "http://x#y", "//x"]
)
def test_an_address_that_is_none(url):
    with pytest.raises(ValueError, match="url must"):
        connection(url, None, 1.0)


def test_secrets_do_not_belong_into_an_address():
    with pytest.raises(ValueError, match="url must have no user") as error:
        connection(f"http://me:{SECRET}@host", None, 1.0)
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), True])
def test_a_timeout_is_positive(timeout):
    with pytest.raises(ValueError, match="timeout must be positive seconds"):
        connection(None, None, timeout)
