"""A server under tokens that end, too much load, and the order to stop."""

import concurrent.futures
import os
import signal
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
from support.servers import Server

from hierbandits.service.data_place import DataPlace

FEW_WAIT = """
import functools, json, sys
from pathlib import Path
from hierbandits.service import policy_book, serve
policy_book.PolicyTurns = functools.partial(policy_book.PolicyTurns, most_waiting=8)
serve.serve(Path(sys.argv[1]), **json.loads(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with tokens, where at most eight requests of a policy may wait."""
    one = Server(tmp_path_factory.mktemp("s") / "data", program=FEW_WAIT, logs_requests=True)
    one.root = one.token("root")
    with one:
        admin = one.client(one.root)
        admin.put("/policies/p", json={"arms": ["x", "y"]}).raise_for_status()
        admin.post("/policies/p/decisions", json={"task": "t"}).raise_for_status()
        yield one


def status_soon(client, wanted, seconds=10.0):
    """How long it takes until a client is answered so."""
    start = time.monotonic()
    while (status := client.get("/policies").status_code) != wanted:
        assert time.monotonic() - start < seconds, status
        time.sleep(0.02)
    return time.monotonic() - start


def test_a_running_server_sees_new_and_revoked_tokens(server):
    client = server.client(server.token("brief", ["read"]))
    status_soon(client, 200)
    DataPlace(server.folder).tokens().revoke("brief")
    took = status_soon(client, 401)
    print(f"revoked tokens are refused after {took:.2f} s")
    assert took < 5.0  # 2 s on a machine that is not overloaded


def test_a_token_ends_at_its_time(server):
    client = server.client(server.token("short", ["read"], expires=time.time() + 4.0))
    status_soon(client, 200)
    status_soon(client, 401)


def test_scopes_are_kept_apart(server):
    clients = {s: server.client(server.token(f"for-{s}", [s], ["p"])) for s in ("read", "reward")}
    clients["decide"] = server.client(server.token("for-decide", ["decide"], ["p"]))
    for client in clients.values():
        for _ in range(300):
            if client.get("/policies/p/decisions/nope").status_code != 401:
                break
            time.sleep(0.02)
    asks = {
        "decide": ("POST", "/policies/p/decisions", {"task": "t"}),
        "reward": ("POST", "/policies/p/decisions/nope/reward", {"value": 1}),
        "read": ("GET", "/policies/p", None),
        "admin": ("PUT", "/policies/p", {"arms": ["x", "y"]}),
    }
    for scope, client in clients.items():
        for wanted, (method, path, body) in asks.items():
            status = client.request(method, path, json=body).status_code
            assert (status == 403) == (scope != wanted), (scope, wanted, status)


def test_too_much_load_is_refused_aloud_and_nothing_is_dropped(server):
    """Eight requests may wait, and forty clients come at once."""
    root, each, clients = server.client(server.root), 25, 40
    before = root.get("/policies/p").json()["pending"]
    rss = resident(server.process.pid)
    limits = httpx.Limits(max_connections=clients)
    crowd = server.client(server.root, limits=limits)

    def ask(i):
        reply = crowd.post("/policies/p/decisions", json={"task": f"t{i % 50}"})
        return reply.status_code, reply.headers.get("retry-after")

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        answers = list(pool.map(ask, range(each * clients)))
    made = sum(status == 200 for status, _ in answers)
    assert set(answers) <= {(200, None), (503, "1")}
    assert made > 0
    assert root.get("/policies/p").json()["pending"] == before + made
    assert root.get("/ready").status_code == 200
    print(f"{made} of {len(answers)} served, {(resident(server.process.pid) - rss) >> 10} kB more")
    assert resident(server.process.pid) - rss < 100 << 20


def resident(pid):
    """The bytes of memory that a process holds."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_nothing_secret_is_in_logs_metrics_or_answers(server):
    secret = server.token("quiet", ["read"], ["p"])
    wrong = "hb_quiet." + "w" * 43
    texts = []
    for token in (secret, wrong):
        client = server.client(token)
        for path in ("/policies/p", "/policies/other", "/metrics", f"/policies?token={token}"):
            texts.append(client.get(path).text)
        texts.append(client.post("/policies/p/decisions", json={"task": "t"}).text)
        texts.append(client.put("/policies/p", content=b"{").text)
    client = server.client()
    texts.append(client.get("/policies", headers={"authorization": f"Basic {secret}"}).text)
    texts.append(server.client(server.root).get("/metrics").text)
    texts.append(server.log.read_text())
    everything = "".join(texts)
    for token in (secret, wrong, server.root):
        assert token.partition(".")[2] not in everything
    assert "quiet" not in everything


def test_a_request_under_way_is_answered_and_stored_at_the_end(server):
    """The body of one request comes after the order to stop; others go on as long as they can."""
    body = b'{"task":"last","id":"the-last"}'
    head = (
        f"POST /policies/p/decisions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {server.root}\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode()
    acknowledged, over = [], threading.Event()

    def go_on(worker):
        client = httpx.Client(base_url=server.url, headers=bearer, trust_env=False, timeout=30)
        for i in range(10_000):
            if over.is_set():
                return
            name = f"w{worker}-{i}"
            try:
                reply = client.post("/policies/p/decisions", json={"task": "t", "id": name})
            except httpx.TransportError:
                return
            if reply.status_code == 200:
                acknowledged.append(name)

    bearer = {"authorization": f"Bearer {server.root}"}
    workers = [threading.Thread(target=go_on, args=(i,)) for i in range(3)]
    for worker in workers:
        worker.start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head + body[:10])
        while len(acknowledged) < 20:
            time.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        connection.sendall(body[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert server.process.wait(60) in (0, -signal.SIGTERM)
    over.set()
    for worker in workers:
        worker.join()
    server.start()
    client = server.client(server.root)
    assert client.get("/policies/p/decisions/the-last").json()["task"] == "last"
    for name in acknowledged:
        assert client.get(f"/policies/p/decisions/{name}").status_code == 200, name
