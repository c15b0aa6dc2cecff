"""Hostile use of the API: odd requests of every form, and other tenants' tokens."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hostile_requests import SETTINGS, Answers, send_odd_requests
from support.local_services import LocalService
from support.servers import Server
from support.tenant_probes import Tenants

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with LocalService(tmp_path_factory.mktemp("service") / "data") as local:
        for name, body in zip(("shop", "linear", "plain", "deep", "watch"), SETTINGS, strict=True):
            assert local.request("PUT", f"/policies/{name}", json=body).status_code == 200
        yield local


def test_odd_requests_are_refused_and_never_an_error_of_ours(local):
    answers = Answers()

    def send(method, path, body):
        return local.request(method, path, content=body)

    send_odd_requests(send, random.Random(0), answers, 1500)
    assert answers.statuses[200] > 50
    assert answers.statuses[400] > 300
    print(
        f"refusals: p99 {answers.percentile(0.99):.1f} ms, longest {answers.percentile(1):.1f} ms"
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["task", "arms", "id", "best", "context", "played", "value", "name", "decisions"]


@settings(max_examples=100)
@given(
    path=st.sampled_from(
        ["shop/decisions", "linear/rounds", "shop/decisions/k/reward", "deep/rewards", "shop/arms"]
    ),
    body=JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5),
)
def test_any_json_has_an_answer(local, path, body):
    reply = local.request("POST", f"/policies/{path}", json=body)
    assert reply.status_code in (200, 400, 404, 409)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"task":' * 100_000,
        b'{"task":"' + b"x" * 10_000_000 + b'"}',
        b'{"task":"a","arms":[' + b"1," * 400_000 + b"1]}",
        b'{"task":' + b"9" * 900_000 + b"}",
        b"\xff" * 1_000_000,
    ],
    ids=["brackets", "nested", "10 MB", "many arms", "digits", "no text"],
)
def test_large_bodies_are_refused(local, body):
    reply = local.request("POST", "/policies/shop/decisions", content=body)
    assert reply.status_code in (400, 413)
    assert len(reply.content) < 2000


def test_no_token_sees_what_is_anothers(tmp_path):
    with LocalService(tmp_path / "data", needs_tokens=True) as local:

        def send(method, path, body, token):
            return local.request(method, path, token, content=body)

        def make_token(name, scopes, policies):
            return local.service.tokens.create(name, scopes, policies, 0.0)

        tenants, rng, probes = Tenants(send, make_token), random.Random(0), 0
        while probes < 2000:
            probes += tenants.probe(rng)
            if rng.random() < 0.05:
                probes += tenants.probe_own(rng)


def test_schemathesis_finds_nothing_on_a_running_server(tmp_path):
    with Server(tmp_path / "data") as server:
        server.client().put("/policies/shop", json={"arms": ["red", "blue"]}).raise_for_status()
        words = ["run", f"{server.url}/openapi.json", "--phases", "coverage,fuzzing"]
        words += ["--max-examples", "3", "--no-shrink", "--seed", "0", "--warnings", "off"]
        words += ["--exclude-path", "/docs", "--max-time", "15"]
        checks = "not_a_server_error,status_code_conformance,content_type_conformance"
        words += ["--checks", f"{checks},response_schema_conformance"]
        done = subprocess.run(
            [SCHEMATHESIS, *words], capture_output=True, text=True, cwd=tmp_path, timeout=240
        )
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
        assert "passed" in done.stdout
        assert server.client().get("/ready").status_code == 200
