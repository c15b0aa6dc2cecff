import hmac
import statistics
import threading
import time

import pytest

from hierbandits.service import token_book
from hierbandits.service.token_book import SCOPES, TokenBook
from hierbandits.service.token_file import TokenFile
from hierbandits.service.token_table import TokenTable


@pytest.fixture(params=["file", "table"])
def opened(request, tmp_path):
    """Opens the tokens of one place, as often as it is called."""
    made = []
    url = None if request.param == "file" else request.getfixturevalue("store_url")

    def open_them():
        place = TokenFile(tmp_path / "tokens.json") if url is None else TokenTable(url)
        made.append(TokenBook(place))
        return made[-1]

    yield open_them
    for one in made:
        one.close()


@pytest.fixture
def tokens(opened):
    return opened()


def test_a_token_is_found_by_its_text_alone(tokens):
    text = tokens.create("shop", ["decide"], ["a"], now=0.0)
    found = tokens.find(text, now=1.0)
    assert (found.name, found.scopes, found.policies) == ("shop", ["decide"], ["a"])
    wrong = [text[:-1], text + "x", text.upper(), text.replace("hb_", ""), "", "hb_shop.", "hb_."]
    for other in [*wrong, text.swapcase(), "ünknown", "\x00", "hb_shop." + "x" * 100_000]:
        assert tokens.find(other, now=1.0) is None


def test_scopes_and_policies_bound_a_token(tokens):
    text = tokens.create("shop", ["reward", "read"], ["a", "b"], now=0.0)
    found = tokens.find(text, now=1.0)
    assert [found.allows(scope) for scope in SCOPES] == [False, True, True, False]
    assert [found.sees(name) for name in ("a", "b", "c", "")] == [True, True, False, False]
    everything = tokens.find(tokens.create("root", ["admin"], None, now=0.0), now=1.0)
    assert all(everything.allows(scope) for scope in SCOPES)
    assert everything.sees("anything")


def test_a_token_ends_at_its_time(tokens):
    text = tokens.create("short", ["read"], None, now=0.0, expires=10.0)
    assert tokens.find(text, now=9.99) is not None
    assert tokens.find(text, now=10.0) is None


def test_another_program_makes_and_revokes_tokens(tokens, opened):
    other = opened()
    text = other.create("shop", ["read"], None, now=0.0)
    assert tokens.find(text, now=1.0) is None
    tokens.refresh()
    assert tokens.find(text, now=1.0) is not None
    other.revoke("shop")
    tokens.refresh()
    assert tokens.find(text, now=1.0) is None
    assert len(tokens) == 0
    assert tokens.all() == []


def test_programs_that_make_tokens_at_once_lose_none(opened):
    def make(i):
        opened().create(f"t{i}", ["read"], None, now=0.0)

    threads = [threading.Thread(target=make, args=(i,)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened()) == 12


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "a b"}, "name must be letters"),
        ({"name": ""}, "name must be letters"),
        ({"name": "x" * 65}, "name must be letters"),
        ({"scopes": []}, "scopes must be some of decide, reward, read, admin"),
        ({"scopes": ["write"]}, "scopes must be some of"),
        ({"policies": []}, "policies must be names"),
        ({"name": "old"}, "name must be of a new token, got 'old'"),
    ],
)
def test_a_wrong_token_is_refused_and_nothing_changes(tokens, changes, words):
    tokens.create("old", ["read"], None, now=0.0)
    wanted = {"name": "new", "scopes": ["read"], "policies": None, "now": 0.0} | changes
    with pytest.raises(ValueError, match=words):
        tokens.create(**wanted)
    assert [token.name for token in tokens.all()] == ["old"]


def test_revoking_nobody_is_refused(tokens):
    with pytest.raises(ValueError, match="name must be of a token, got 'x'"):
        tokens.revoke("x")


def test_every_look_compares_whole_digests(tokens, monkeypatch):
    """Known name or not, right or wrong: one comparison of 32 bytes, in constant time."""
    text = tokens.create("shop", ["read"], None, now=0.0)
    seen, real = [], hmac.compare_digest

    def watched(one, other):
        seen.append((len(one), len(other)))
        return real(one, other)

    monkeypatch.setattr(token_book.hmac, "compare_digest", watched)
    for other in (text, "hb_shop.wrong", "hb_nobody.wrong", ""):
        tokens.find(other, now=1.0)
    assert seen == [(32, 32)] * 4


def test_a_wrong_first_letter_takes_as_long_as_a_wrong_last(tokens):
    text = tokens.create("shop", ["read"], None, now=0.0)
    begin = text.index(".") + 1
    wrong = [text[:begin] + "~" + text[begin + 1 :], text[:-1] + "~"]
    took = [[], []]
    for _ in range(400):
        for times, other in zip(took, wrong, strict=True):
            start = time.perf_counter_ns()
            for _ in range(5):
                tokens.find(other, now=1.0)
            times.append(time.perf_counter_ns() - start)
    first, last = (statistics.median(times) for times in took)
    assert 0.5 < first / last < 2.0
