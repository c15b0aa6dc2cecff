"""Heads of requests, byte by byte, on a server of its own."""

import json
import socket
import time

import pytest
from support.servers import Server

PROGRAM = """
import json, sys
from pathlib import Path
from hierbandits.service import serve, service
from hierbandits.service.http_protocol import HttpProtocol
HttpProtocol.patience = 1.0
service.Service.__init__.__kwdefaults__["patience"] = 1.0
serve.serve(Path(sys.argv[1]), **json.loads(sys.argv[2]))
"""
GET = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "data", program=PROGRAM) as server:
        server.client().put("/policies/p", json={"arms": ["x", "y"]}).raise_for_status()
        server.client().post("/policies/p/decisions", json={"task": "t"}).raise_for_status()
        yield server


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def read_all(connection):
    """All that comes until the server closes the connection."""
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


def answers(data):
    """The statuses and bodies of answers that came one after the other."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        heads = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(heads["content-length"])
        found.append((int(lines[0].split()[1]), json.loads(rest[:length]), heads))
        data = rest[length:]
    return found


def test_a_head_that_does_not_come_is_given_up(server):
    for begin in (b"", b"GET /health HTTP/1.1\r\nhost: x\r\nx-slow: "):
        with connected(server) as connection:
            connection.sendall(begin)
            start = time.monotonic()
            ((status, body, heads),) = answers(read_all(connection))
            assert (status, body["code"], heads["connection"]) == (408, "timeout", "close")
            assert time.monotonic() - start < 20


def test_a_head_that_trickles_is_given_up(server):
    with connected(server) as connection:
        connection.sendall(GET[:-2])
        connection.settimeout(0.1)
        got = b""
        for _ in range(200):
            try:
                connection.sendall(b"x: y\r\n")
                got += connection.recv(65536)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
            if got:
                break
        assert got.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("size", [65_000, 70_000, 1_000_000])
@pytest.mark.parametrize("piece", [1000, 10_000_000])
def test_a_head_is_bounded(server, size, piece):
    head = GET[:-2] + b"x-long: " + b"a" * (size - len(GET) - 10) + b"\r\n\r\n"
    with connected(server) as connection:
        try:
            for i in range(0, len(head), piece):
                connection.sendall(head[i : i + piece])
            connection.shutdown(socket.SHUT_WR)
        except OSError:  # it is closed already
            pass
        data = read_all(connection)
        if size > 65_536:
            # A reset may overtake the answer while we still send.
            assert not data or data.startswith(b"HTTP/1.1 431")
        else:
            assert data.startswith(b"HTTP/1.1 200")
    assert server.client().get("/health").status_code == 200


@pytest.mark.parametrize("last", [20_000, 3])
def test_what_comes_last_counts_too(server, last):
    """Its pieces are small; the body after it, in one piece with its end, is not."""
    head = GET[:-2] + b"x-long: " + b"a" * 50_000 + b"\r\n\r\n"
    with connected(server) as connection:
        connection.sendall(head[:-last])
        time.sleep(0.2)
        connection.sendall(head[-last:-1] + b"a" * 20_000 + b"\r\n\r\n")
        assert answers(read_all(connection))[0][0] == 431
    long = head.replace(b"GET", b"PUT", 1)[:-2] + b"content-length: 100000\r\n\r\n"
    with connected(server) as connection:
        connection.sendall(long[:-2])
        time.sleep(0.2)
        connection.sendall(long[-2:] + b"b" * 100_000)
        connection.shutdown(socket.SHUT_WR)
        assert answers(read_all(connection))[0][0] == 405


def test_many_headers_and_a_long_path_are_refused_too(server):
    for head in (
        b"GET /health HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nhost: x\r\n\r\n",
    ):
        with connected(server) as connection:
            connection.sendall(head)
            assert answers(read_all(connection))[0][0] == 431


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"GET /health HTTP/9.9\r\n\r\n",
        b"POST /health HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST /health HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"GET /health HTTP/1.1\r\nbad header: x\r\n\r\n",
        b"GET /health HTTP/1.1\r\nx: \x00\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_problem_too(server, head):
    with connected(server) as connection:
        connection.sendall(head)
        ((status, body, _),) = answers(read_all(connection))
        assert (status, body["code"]) == (400, "bad_request")


def test_requests_in_one_piece_are_answered_in_their_order(server):
    body = b'{"task":"t","id":"k%d"}'
    head = b"POST /policies/p/decisions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
    pieces = [head % len(body % i) + body % i for i in range(50)]
    last = b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    with connected(server) as connection:
        connection.sendall(b"".join(pieces) + last)
        found = answers(read_all(connection))
    assert [status for status, _, _ in found] == [200] * 51
    assert [one["id"] for _, one, _ in found[:-1]] == [f"k{i}" for i in range(50)]


def test_a_body_that_does_not_come_is_given_up(server):
    with connected(server) as connection:
        connection.sendall(
            b"POST /policies/p/decisions HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{"
        )
        ((status, body, heads),) = answers(read_all(connection))
    assert (status, body["code"], heads["connection"]) == (408, "timeout", "close")


@pytest.mark.parametrize(
    "path",
    [b"%", b"%zz", b"%FF", b"%00", b"%2", b"a%2Fb", b"..%2f..%2fetc", b"\\", b"%C2%B2", b";"],
)
def test_odd_names_in_paths_are_not_found(server, path):
    with connected(server) as connection:
        connection.sendall(
            b"GET /policies/" + path + b" HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        ((status, _, _),) = answers(read_all(connection))
    assert status in (400, 404)


def test_nothing_of_this_is_an_error_of_the_server(server):
    assert [line for line in server.lines() if line["level"] == "error"] == []
