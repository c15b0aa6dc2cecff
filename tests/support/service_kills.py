"""A service that is killed under load, started again, and asked what it still knows."""

import threading
import time
from collections import Counter

import numpy as np

from support.served_truth import GaussianPlay, Truth
from support.servers import Server
from support.service_calls import BROKEN, Line, Refused

CLIENTS = 8
TASKS = 12
_AT_ONCE = 2000  # repeated in one request


class KilledService:
    """Rounds of load, SIGKILL, start and check; `counts` says what has been.

    `play` has the settings, the rewards and what must be known of them: see `GaussianPlay`.
    """

    def __init__(self, folder, seed, policy="shop", largest=60, server=None, play=None):
        self._server = Server(folder) if server is None else server
        self._policy = f"/policies/{policy}"
        self._largest = largest  # of the decisions or rewards in one request
        self._name, self._rng = policy, np.random.default_rng(seed)
        self._play = GaussianPlay() if play is None else play
        self._truth, self._broken = Truth(self._play.draw), []
        self._new_decisions = self._new_rewards = 0  # where those of this round begin
        self._is_ending = threading.Event()
        self.counts = Counter()
        self._server.start()
        line = self.line()
        status, reply = line.call("PUT", self._policy, self._play.settings)
        assert status == 200, reply
        line.close()

    def close(self):
        self._server.kill()

    def line(self):
        return Line(self._server.port)

    def start_again(self):
        """A kill at rest, and a start."""
        self._server.kill()
        self._server.start()

    def round(self, longest=1.0, trouble=None):
        """Load by eight clients, a kill at any moment of it, a start, and all checks.

        `trouble` happens in place of the kill, and is over when it returns; load goes on then.
        """
        first = threading.Event()
        seeds = self._rng.integers(1 << 62, size=CLIENTS)
        threads = [threading.Thread(target=self._client, args=(int(seed), first)) for seed in seeds]
        for thread in threads:
            thread.start()
        assert first.wait(120), "the server answers nobody"
        time.sleep(self._rng.uniform(0, longest))
        if trouble is None:
            self._server.kill()
        else:
            trouble()
            time.sleep(self._rng.uniform(0, longest))
            self._is_ending.set()
        for thread in threads:
            thread.join(60)
        self._is_ending.clear()
        assert not self._broken, self._broken
        if trouble is None:
            self._server.start()
        self._wait_until_ready()
        self.check()
        self.counts["kills" if trouble is None else "troubles"] += 1

    def _wait_until_ready(self):
        """Wait until the policy can be asked for everything."""
        line = self.line()
        for _ in range(600):
            if line.call("GET", "/ready")[0] == 200:
                line.close()
                return
            time.sleep(0.1)
        raise AssertionError("the service is never ready again")

    def _client(self, seed, first):
        rng, line = np.random.default_rng(seed), self.line()
        try:
            while not self._is_ending.is_set():
                try:
                    self.ask(rng, line)
                except Refused as refused:  # nobody knows what became of it
                    if refused.status != 503:
                        raise
                    self.counts["refused"] += 1
                    time.sleep(0.02)
                first.set()
        except BROKEN:
            pass
        except BaseException as error:
            self._broken.append(repr(error))
            first.set()
        finally:
            line.close()

    def ask(self, rng, line):
        """One request of a client: decisions or rewards, one or many."""
        kind, truth = rng.integers(5), self._truth
        values = truth.takes(rng, 1 if kind == 3 else self._largest) if kind > 2 else {}
        if kind == 0 or (kind > 2 and not values):  # an id of the service's own
            truth.asks(None)
            truth.is_told(line.post(f"{self._policy}/decisions", {"task": _task(rng)}))
        elif kind == 1:
            id, task = rng.bytes(8).hex(), _task(rng)
            truth.asks({id: task})
            truth.is_told(line.post(f"{self._policy}/decisions", {"task": task, "id": id}))
        elif kind == 2:
            size = int(rng.integers(1, self._largest))
            wanted = {rng.bytes(8).hex(): _task(rng) for _ in range(size)}
            truth.asks(wanted)
            for reply in self._decided(line, wanted):
                truth.is_told(reply)
        elif kind == 3:
            for id, value in values.items():
                path = f"{self._policy}/decisions/{id}/reward"
                assert line.post(path, {"value": value})["status"] == "learned"
                truth.is_learned(id, value)
        else:
            for id, status in self._rewarded(line, values).items():
                assert status == "learned", status
                truth.is_learned(id, values[id])

    def look(self, rng, line):
        """Read a decision that was acknowledged."""
        ids = list(self._truth.made)
        id = ids[rng.integers(len(ids))]
        found = line.get(f"{self._policy}/decisions/{id}")
        assert (found["task"], found["arm"]) == self._truth.made[id]
        assert found["reward"] == self._truth.rewards.get(id) or id in self._truth.sent

    def _decided(self, line, wanted):
        """The answers to these decisions, {id: task}, many at a time."""
        replies, rows = [], [{"id": id, "task": task} for id, task in wanted.items()]
        for first in range(0, len(rows), _AT_ONCE):
            some = {"decisions": rows[first : first + _AT_ONCE]}
            replies += line.post(f"{self._policy}/rounds", some)["decisions"]
        return replies

    def _rewarded(self, line, values):
        """What the service says of these rewards, {id: value}, many at a time."""
        said, rows = {}, [{"id": id, "value": value} for id, value in values.items()]
        for first in range(0, len(rows), _AT_ONCE):
            some = rows[first : first + _AT_ONCE]
            replies = line.post(f"{self._policy}/rewards", {"rewards": some})["rewards"]
            said |= {one["id"]: reply["status"] for one, reply in zip(some, replies, strict=True)}
        return said

    def check(self):
        """After a start: what was acknowledged is there, once; what was not is settled once."""
        line, truth = self.line(), self._truth
        stored = self._look_for_unanswered(line)
        self._check_all(line, stored)
        self._check_acknowledged(line)
        self.counts["rewards stored without an answer"] += len(stored)
        self.counts["rewards neither stored nor answered"] += len(truth.sent) - len(stored)
        for id, status in self._rewarded(line, truth.sent).items():
            assert status == ("duplicate" if id in stored else "learned"), (id, status)
            truth.is_learned(id, truth.sent[id])
        for reply in self._decided(line, truth.asked):
            assert not reply.get("duplicate"), reply
            truth.is_told(reply)
        self._check_all(line)
        line.close()
        self._new_decisions, self._new_rewards = len(truth.made), len(truth.rewards)
        self.counts["acknowledged decisions"] = len(truth.made)
        self.counts["acknowledged rewards"] = len(truth.rewards)

    def _look_for_unanswered(self, line):
        """Rewards that are stored though nobody was told; decisions like that are told now."""
        truth, stored, there = self._truth, {}, {}
        for ids in _requests(truth, truth.sent):
            found = [line.get(f"{self._policy}/decisions/{id}")["reward"] for id in _ends(ids)]
            values = [truth.sent[id] for id in _ends(ids)]
            assert found in ([None] * len(values), values)  # all of a request, or nothing
            if found == values:
                stored |= {id: truth.sent[id] for id in ids}
        for ids in _requests(truth, truth.asked):
            answers = [line.call("GET", f"{self._policy}/decisions/{id}") for id in _ends(ids)]
            statuses = {status for status, _ in answers}
            assert statuses in ({200}, {404})
            if statuses == {200}:
                assert [one["task"] for _, one in answers] == [truth.asked[id] for id in _ends(ids)]
                there |= {id: truth.asked[id] for id in ids}
        for reply in self._decided(line, there):
            assert reply["duplicate"]
            truth.is_told(reply)
        self.counts["decisions stored without an answer"] += len(there)
        return stored

    def _check_acknowledged(self, line):
        """All decisions and rewards of the last round are there; another value is refused."""
        truth = self._truth
        new = list(truth.made)[self._new_decisions :]
        given = {id: truth.made[id][0] for id in new if "." not in id}
        for reply in self._decided(line, given):
            assert reply["duplicate"]
            truth.is_told(reply)  # the same
        for id in [id for id in new if "." in id and id not in truth.sent]:
            found = line.get(f"{self._policy}/decisions/{id}")
            assert (found["task"], found["arm"]) == truth.made[id]
            assert found["reward"] == truth.rewards.get(id)
        values = dict(list(truth.rewards.items())[self._new_rewards :])
        assert set(self._rewarded(line, values).values()) <= {"duplicate"}
        others = {id: self._play.wrong(value) for id, value in list(values.items())[:20]}
        assert set(self._rewarded(line, others).values()) <= {409}

    def _check_all(self, line, stored=None):
        """Counts of the policy, and the beliefs of all tasks."""
        truth, more = self._truth, stored or {}
        shown, rewards = line.get(self._policy), len(truth.rewards) + len(more)
        assert shown["rewards"] == rewards
        lost_sight_of = shown["pending"] - (len(truth.made) - rewards)
        assert 0 <= lost_sight_of <= truth.nameless  # whose ids nobody was told
        self._play.check(line, self._name, *truth.totals(self._play.arms, more.items()))


def _requests(truth, ids):
    """The ids without an answer, request by request."""
    return {id(of): of for of in (truth.together[one] for one in ids)}.values()


def _ends(ids):
    return ids[:1] + ids[1:][-1:]


def _task(rng):
    return f"task-{rng.integers(TASKS)}"
