"""Buffered rewards: acknowledged means on the disk, and sooner or later learned, once."""

import json
import os
import signal
import subprocess
import sys

import pytest
from support.scripted_server import scripted
from support.servers import Server

import hierbandits as hb
from hierbandits.client import BadRequest, Conflict, RewardBuffer, RewardReceipt, Unavailable

WRITER = """
import sys, hierbandits as hb
url, path, begin = sys.argv[1], sys.argv[2], int(sys.argv[3])
buffer = hb.Client(url, timeout=120).buffered_rewards(path, "shop")
for i in range(begin, 10**6):
    buffer.add(f"d{i}", i / 4)
    print(i, flush=True)
"""


class Service:
    """Takes rewards as a service would; `troubles` are raised or told first."""

    def __init__(self, *troubles):
        self.troubles, self.known, self.sizes = list(troubles), {}, []

    def __call__(self, policy, rewards):
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, Exception):
            raise trouble
        self.sizes.append(len(rewards))
        return [self._take(id, value, (trouble or {}).get(id)) for id, value in rewards]

    def _take(self, id, value, trouble):
        if trouble is not None:
            return trouble
        self.known.setdefault(id, value)
        return RewardReceipt(id, "learned")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rewards.log"


def test_rewards_arrive_in_their_order_and_the_file_is_empty(path):
    service = Service()
    with RewardBuffer(path, "shop", service) as buffer:
        for i in range(30):
            buffer.add(f"d{i}", i)
        assert buffer.flush(60)
        assert (buffer.pending, buffer.error) == (0, None)
    assert list(service.known.items()) == [(f"d{i}", float(i)) for i in range(30)]
    assert path.read_bytes().count(b"\n") == 1


def test_while_the_service_is_away_rewards_wait(path):
    away = [Unavailable("away"), RuntimeError("closed"), BadRequest("what?")]
    service = Service(*away)
    with RewardBuffer(path, "shop", service) as buffer:
        buffer.add("a", 1.0)
        assert not buffer.flush(0.0)
        assert buffer.flush(60)
    assert service.known == {"a": 1.0}
    assert service.troubles == []


def test_what_is_refused_for_good_is_written_down(path):
    later, refused = (
        Unavailable("later", status=503),
        Conflict("has 2", status=409, code="conflict"),
    )
    with RewardBuffer(path, "shop", Service(Unavailable("away"))) as buffer:
        for i in range(4):
            buffer.add(f"d{i}", i)
        buffer._send = service = Service({"d1": refused, "d2": later})
        assert buffer.flush(60)
    assert set(service.known) == {"d0", "d2", "d3"}
    (line,) = path.with_name("rewards.log.refused").read_text().splitlines()
    assert json.loads(line) == {"id": "d1", "value": 1.0, "code": "conflict", "detail": "has 2"}


def test_what_is_left_at_the_end_is_sent_by_the_next(path):
    with RewardBuffer(path, "shop", Service(*[Unavailable("away")] * 100)) as buffer:
        buffer.add("a", 1.0)
        assert not buffer.close(timeout=0.1)
    service = Service()
    with RewardBuffer(path, "shop", service) as buffer:
        assert buffer.flush(60)
    assert service.known == {"a": 1.0}


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), True, "1", None])
def test_what_is_no_reward_is_refused_at_once(path, value):
    with RewardBuffer(path, "shop", Service()) as buffer:
        with pytest.raises(ValueError, match="value must be a finite number"):
            buffer.add("a", value)
        for id in ("", None, "x" * 1001):
            with pytest.raises(ValueError, match="id must be that of a decision"):
                buffer.add(id, 1.0)
        assert buffer.pending == 0


def test_a_batch_that_gets_no_answer_is_sent_again_as_it_was(path):
    reply = {"rewards": [{"id": "a", "status": "duplicate"}]}
    with scripted(None, (503, {}), (200, reply)) as script, hb.Client(script.url) as client:
        with client.buffered_rewards(path, "shop") as buffer:
            buffer.add("a", 1.0)
            assert buffer.flush(60)
        assert len({body for *_, body in script.asked}) == 1
        assert len(script.asked) == 3


def acknowledged(url, path, begin, number):
    """Kill a process that adds rewards when it has told of some; the last that it told of."""
    words = [sys.executable, "-c", WRITER, url, str(path), str(begin)]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, env=os.environ, start_new_session=True
    )
    try:
        for line in process.stdout:
            if int(line) >= begin + number:
                break
        os.killpg(process.pid, signal.SIGKILL)
        rest = [line for line in process.stdout.read().split("\n")[:-1] if line]
        return int(rest[-1] if rest else line)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_killed_process_loses_no_acknowledged_reward(path, tmp_path):
    """Killed while the service is away, and while it takes rewards; then the rest is sent."""
    with Server(tmp_path / "data") as server, hb.Client(server.url, timeout=120) as client:
        client.put_policy("shop", {"arms": ["x", "y"]})
        wanted = [hb.client.Wanted(f"t{i % 50}", id=f"d{i}") for i in range(3000)]
        assert len(client.decide_many("shop", wanted)) == 3000
        last = acknowledged("http://127.0.0.1:9", path, 0, 50)
        last = acknowledged(server.url, path, last + 1, 300)
        assert last < 3000
        with client.buffered_rewards(path, "shop") as buffer:
            assert buffer.flush(120)
        for i in {0, 1, last, *range(0, last, 7)}:
            assert client.decision("shop", f"d{i}").reward == i / 4
        learned = client.policy("shop").rewards
        assert last + 1 <= learned <= last + 3  # those in flight at the two deaths may be there
    assert not path.with_name("rewards.log.refused").exists()
