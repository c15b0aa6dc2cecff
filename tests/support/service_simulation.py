"""A life of policies in which the ledger fails, processes die and everything depends on a seed."""

import asyncio
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from hierbandits.service.api_problem import Problem
from hierbandits.service.policy_book import PolicyBook
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.sqlite_storage import SqliteStorage
from hierbandits.service.storage import StorageFailed
from hierbandits.service.wire import DecisionRequest
from support.faulty_storage import FaultyStorage, SlowCommits
from support.ledger_reading import LedgerReading
from support.rollout_life import ERRORS, RolloutLife
from support.seeded_secrets import seeded_secrets
from support.served_truth import ARMS, SETTINGS, posterior
from support.virtual_loop import run

NAME = "shop"
QUICK = Path("/dev/shm")  # a disk that is no disk, where there is one
_WAITS = ((None, None), (60.0, None), (60.0, 0.0))


def simulate(seed, steps=40):
    """Live one life; counts of what happened.  The same seed gives the same life."""
    rng = np.random.default_rng(seed)
    with (
        TemporaryDirectory(dir=QUICK if QUICK.is_dir() else None) as folder,
        seeded_secrets(seed + (1 << 40)),
    ):
        life = Life(Path(folder), rng)
        return run(life.live(steps))


class Life(RolloutLife):
    """Random operations on a policy, and what must be so after each of them."""

    def __init__(self, folder, rng):
        self._folder, self._rng, self.now = folder, rng, 1_000_000.0
        self.counts = Counter()
        self.told = {}  # id: (task, arm)
        self.learned = {}  # id: the values of rewards and corrections that were acknowledged
        wait, default = _WAITS[rng.integers(3)]
        remember = int(rng.choice([3, 1000]))
        self._settings = SETTINGS | {
            "draws": 2, "reward_wait": wait, "default_reward": default, "remember": remember,
            "control_arm": ARMS[0], "guardrails": [ERRORS],
            "ratio_check": str(rng.choice(["none", "rewards", "exposures"])),
        }  # fmt: skip
        self.measured = {}  # (id, name): the value that was acknowledged
        self._given = 0

    async def live(self, steps):
        await self._begin()
        await self._until_done(lambda: self._book.put(NAME, _settings(self._settings)))
        self._storage.writes, self._storage.reads = self._rng.choice([0.0, 0.1, 0.3], 2)
        self._storage.reads /= 10
        for _ in range(steps):
            self.now += self._rng.exponential(10.0)
            number = int(self._rng.choice([1, 1, 2, 6]))
            await asyncio.gather(*[self._operate() for _ in range(number)])
            if self._rng.random() < 0.03:
                await self._forget(f"task-{self._rng.integers(4)}")
            if self._rng.random() < 0.1:
                await self._end(is_crash=bool(self._rng.integers(2)))
                await self._begin()
            await self._check()
        await self._end(is_crash=True)
        self._storage.writes = self._storage.reads = 0.0
        await self._begin()
        await self._check()
        self._ledger.check()
        self._ledger.close()
        self.counts["faults"] += self._storage.faults
        return self.counts

    async def _begin(self):
        """A process starts."""
        writes, reads, faults = 0.0, 0.0, 0
        if hasattr(self, "_storage"):
            writes, reads = self._storage.writes, self._storage.reads
            faults = self._storage.faults
        self._ledger = SqliteStorage(self._folder / "ledger.db")
        self._storage = FaultyStorage(self._ledger, self._rng)
        snapshots = Snapshots(self._folder / "snapshots")
        commits = SlowCommits(self._storage, self._rng)
        commits.start()
        self._book = PolicyBook(self._storage, snapshots, commits, lambda: self.now)
        self._snapshots = snapshots
        self._book.open()
        self._storage.writes, self._storage.reads = writes, reads
        self._storage.faults = faults
        self.counts["starts"] += 1

    async def _end(self, *, is_crash):
        """A process dies, perhaps with a snapshot; what waits is never written."""
        if not is_crash and self._book.is_ready:
            live = self._book.turns(NAME).live
            if live.number == self._ledger.last(live.record.id):
                agents = {one.number: one.agent for one in live.versions}
                self._snapshots.save(live.record, live.number, agents)
                self._snapshots.save_rollout(live.record, live.number, live.rollout.state)
        self._book._records.clear()  # nobody loads anything again
        self._ledger.close()

    async def _until_done(self, action):
        """Try until it works."""
        for _ in range(100):
            try:
                return await action()
            except (Problem, StorageFailed) as problem:
                if isinstance(problem, Problem) and problem.status != 503:
                    raise
                await asyncio.sleep(1.0)
        raise AssertionError("what was to happen never happens")

    async def _operate(self):
        """One request of a client; a 503 or a failure of the storage says nothing."""
        kinds = [self._decide, self._decide_many, self._decide_again, self._reward, self._reward]
        kinds += [self._reward_many, self._repeat, self._contradict, self._correct, self._expire]
        kinds += [self._measure, self._measure_again, self._roll]
        kinds += [self._stranger, self._change] if self._rng.random() < 0.3 else []
        kind = kinds[self._rng.integers(len(kinds))]
        try:
            await kind()
            self.counts[f"{kind.__name__.strip('_')} answered"] += 1
        except StorageFailed:
            self.counts["not answered"] += 1
        except Problem as problem:
            if problem.status != 503:
                raise
            self.counts["not answered"] += 1

    @property
    def _turns(self):
        return self._book.turns(NAME)

    async def _ask(self, kind, request):
        """What a client is told: an answer, or a Problem other than 503."""
        try:
            return await self._book.turns(NAME).ask(kind, request)
        except Problem as problem:
            if problem.status == 503:
                raise
            return problem

    def _request(self):
        self._given += 1
        id = None if self._rng.random() < 0.3 else f"given-{self._given}"
        return DecisionRequest(f"task-{self._rng.integers(4)}", id=id)

    def _some(self, ids, most=1):
        return [ids[i] for i in self._rng.permutation(len(ids))[:most]]

    def _is_told(self, reply):
        assert not isinstance(reply, Problem), reply.detail
        told = reply.task, reply.arm
        assert self.told.setdefault(reply.id, told) == told

    async def _decide(self):
        self._is_told(await self._ask("decide", self._request()))

    async def _decide_many(self):
        requests = [self._request() for _ in range(int(self._rng.integers(1, 5)))]
        requests += self._some(requests)
        turns = self._book.turns(NAME)
        for reply in await self._ask("call", lambda: turns.live.decide(requests)):
            self._is_told(reply)

    async def _decide_again(self):
        for id in self._some([id for id in self.told if id.startswith("given")]):
            self._is_told(await self._ask("decide", DecisionRequest(self.told[id][0], id=id)))

    def _is_answered(self, id, value, reply):
        """What a reward may be told, whatever happened before."""
        if isinstance(reply, Problem):
            assert (reply.status, reply.code) == (409, "conflict"), reply.detail
        else:
            assert reply.status in ("learned", "duplicate", "corrected")
            self.learned.setdefault(id, []).append((value, reply.status))

    async def _reward(self):
        for id in self._some(list(self.told)):
            value = float(self._rng.normal())
            self._is_answered(id, value, await self._ask("reward", (id, value)))

    async def _reward_many(self):
        ids = self._some(list(self.told), 5)
        rows = [(id, float(self._rng.normal())) for id in ids]
        turns = self._book.turns(NAME)
        replies = await self._ask("call", lambda: turns.live.reward(rows))
        for (id, value), reply in zip(rows, replies, strict=True):
            self._is_answered(id, value, reply)

    async def _repeat(self):
        """The last value again is a duplicate, always."""
        for id in self._some(list(self.learned)):
            value, _ = self.learned[id][-1]
            self._is_answered(id, value, await self._ask("reward", (id, value)))

    async def _contradict(self):
        for id in self._some(list(self.learned)):
            value = self.learned[id][-1][0] + 1
            self._is_answered(id, value, await self._ask("reward", (id, value)))

    async def _correct(self):
        turns, value = self._book.turns(NAME), float(self._rng.normal())
        for id in self._some(list(self.told)):
            reply = await self._ask("call", lambda id=id: turns.live.correct(id, value))
            if not isinstance(reply, Problem):
                self._is_answered(id, value, reply)
            else:
                assert reply.code == "no_reward_yet", reply.detail

    async def _stranger(self):
        reply = await self._ask("reward", ("nobody", 1.0))
        assert (reply.status, reply.code) == (404, "not_found")

    async def _expire(self):
        turns = self._book.turns(NAME)
        await self._ask("call", lambda: turns.live.expire())

    async def _change(self):
        """A new version, which sees the log with new eyes."""
        self._settings |= {"draws": int(self._rng.integers(2, 50))}
        await self._book.put(NAME, _settings(self._settings))

    async def _forget(self, task):
        """Delete a task, as often as it takes; then nothing of it is left."""
        gone = [id for id, (of, _) in self.told.items() if of == task]
        try:
            await self._until_done(lambda: self._book.forget(NAME, task))
        except Problem as problem:
            if problem.status != 404:
                raise
            assert not gone
        for id in gone:
            del self.told[id]
            self.learned.pop(id, None)
            self.measured = {key: one for key, one in self.measured.items() if key[0] != id}
        self.counts["tasks deleted"] += 1
        await self._ready()
        live = self._book.turns(NAME).live
        assert not any(task.encode() in data for _, data in self._ledger.events(live.record.id))

    async def _ready(self):
        for _ in range(200):
            if self._book.is_ready:
                return
            await asyncio.sleep(1.0)
        raise AssertionError("the policy is never loaded again")

    async def _check(self):
        """Acknowledged is stored is learned, exactly once; and everybody says the same."""
        await self._ready()
        live = self._book.turns(NAME).live
        read = LedgerReading(self._ledger.events(live.record.id))
        for id, (task, arm) in self.told.items():
            assert (read.decisions[id].task, read.decisions[id].arm) == (task, arm)
        for id, values in self.learned.items():
            one = read.decisions[id]
            assert one.reward in [value for value, _ in values] or one.corrected
            new = [status for _, status in values].count("learned")
            assert new <= one.learned <= 2, (id, values, one)
        for (id, name), value in self.measured.items():
            assert read.decisions[id].metrics[name] == value
        self._check_rollout(live, read)
        assert live.number == sum(read.kinds.values())
        assert live.pending == len(read.pending), (live.pending, read.pending)
        assert sorted(one.id for one in live.agent.pending) == sorted(read.pending)
        self._check_view(live, read)
        self._check_belief(live, read)
        self.counts["steps"] += 1
        self.counts["decisions"] = max(self.counts["decisions"], len(read.decisions))

    def _check_view(self, live, read):
        reads, self._storage.reads = self._storage.reads, 0.0
        ids = list(read.decisions)
        for id in self._some(ids, 10):
            one, found = read.decisions[id], live.view.decision(id)
            assert (found["task"], found["arm"]) == (one.task, one.arm)
            assert (found["reward"], found["provisional"]) == (one.reward, one.is_default), id
        self._storage.reads = reads

    def _check_belief(self, live, read):
        tasks = live.agent.tasks
        counts, sums = read.totals(tasks, ARMS)
        if not tasks:
            return
        means, variances = posterior(counts, sums)
        table = live.agent.table()
        shape = len(tasks), len(ARMS)
        np.testing.assert_array_equal(np.reshape(table["rewards"], shape), counts)
        np.testing.assert_allclose(np.reshape(table["mean"], shape), means, rtol=0, atol=1e-9)
        found = np.add(table["within_var"], table["shared_var"]).reshape(shape)
        np.testing.assert_allclose(found, variances, rtol=0, atol=1e-9)


def _settings(parts):
    return PolicySettings(**parts)
