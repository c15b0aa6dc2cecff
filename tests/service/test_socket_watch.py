"""Whoever waits too long on a socket is let go, and nobody else."""

import socket
import time

import pytest

from hierbandits.service.socket_watch import SocketWatch


@pytest.fixture
def watch():
    own = SocketWatch()
    yield own
    own.close()


def test_a_wait_ends_at_its_limit(watch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(30)
        start = time.monotonic()
        with watch.limit(ours, 0.2):
            assert ours.recv(1) == b""  # shut: else this would time out
        assert 0.2 <= time.monotonic() - start < 20


def test_what_is_done_in_time_is_left_alone(watch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with watch.limit(ours, 0.1):
            theirs.send(b"x")
            assert ours.recv(1) == b"x"
        time.sleep(0.8)
        theirs.send(b"y")
        assert ours.recv(1) == b"y"


def test_a_socket_that_is_closed_by_its_owner_troubles_nobody(watch):
    ours, theirs = socket.socketpair()
    with theirs:
        with watch.limit(ours, 0.0):
            ours.close()
            time.sleep(0.6)
        other, end = socket.socketpair()
        with other, end, watch.limit(other, 0.1):
            other.settimeout(30)
            assert other.recv(1) == b""
