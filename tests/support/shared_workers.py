"""Workers that share one store, under load together; any of them may die."""

import time

import numpy as np
import psycopg

from hierbandits.service.shared_folder import FOLDING
from hierbandits.service.store_url import SCHEMA
from support.arm_requests import WIDTHS, ArmRequest
from support.click_play import ClickPlay
from support.held_moments import HeldMoments
from support.postgres_servers import database_of
from support.served_truth import GaussianPlay
from support.servers import Server
from support.service_calls import Line
from support.service_kills import KilledService
from support.socket_proxy import SocketProxy, through

_WORKER = "worker-"


class SharedWorkers:
    """As a `Server` with many ports: each client gets that of the next worker."""

    def __init__(self, folder, store, number):
        self.store, self.folder, self._next = store, folder, 0
        self.servers = [
            Server(folder / f"worker {i}", store=_named(store, i), shared=True)
            for i in range(number)
        ]

    @property
    def port(self):
        self._next += 1
        return self.servers[self._next % len(self.servers)].port

    def start(self):
        for one in self.servers:
            one.begin()
        for one in self.servers:
            one.wait()
        return self

    def kill_and_start(self, place):
        """kill -9 of one worker, and another in its place."""
        self.servers[place].kill()
        self.servers[place].start()

    def replace(self, place, store):
        """Let a worker be one that reaches the store by another address."""
        self.servers[place].kill()
        self.servers[place].options["store"] = _named(store, place)
        self.servers[place].start()

    def kill_at(self, moments, moment, begin=lambda: None):
        """kill -9 of the first worker that comes to a moment; its place, when all is settled.

        The moment is held from before `begin` is called.  The worker is not started again.
        """
        with moments.hold(moment) as first:
            begin()
            application = first()
            place = int(application.removeprefix(_WORKER))
            self.servers[place].kill()
        moments.wait_until_gone(application)
        return place

    def kill_settled(self, moments, place):
        """kill -9 of one worker; the server has then settled what it had begun."""
        self.servers[place].kill()
        moments.wait_until_gone(f"{_WORKER}{place}")

    def agreed(self, path):
        """What all workers say of a policy's version and arms; they must say the same."""
        said = set()
        for one in self.servers:
            line = Line(one.port)
            shown = line.get(path)
            line.close()
            said.add((shown["version"], *shown["arms"]))
        ((version, *arms),) = said
        return version, arms

    def wait_until_folded(self):
        """Wait until all rewards are in the newest generation."""
        deadline = time.monotonic() + 60
        with psycopg.connect(self.store, options=f"-c search_path={SCHEMA}") as db:
            db.autocommit = True
            while db.execute("SELECT count(*) FROM shared_tasks WHERE dirty").fetchone()[0]:
                assert time.monotonic() < deadline, "nobody folds"
                time.sleep(0.05)

    def kill(self):
        for one in self.servers:
            one.kill()


def _named(store, place):
    """The address of a store whose sessions say which worker they belong to."""
    return f"{store}{'&' if '?' in store else '?'}application_name={_WORKER}{place}"


class PatientLine(Line):
    """A connection that is made anew if nobody has used it for so long that the server ends it."""

    def __init__(self, port):
        super().__init__(port)
        self._used = time.monotonic()

    def call(self, method, path, body=None):
        if time.monotonic() - self._used > 2:
            self._connection.close()  # the next request opens it again
        try:
            return super().call(method, path, body)
        finally:
            self._used = time.monotonic()


class SharedTroubles(KilledService):
    """Workers under load, and everything that can go wrong with them; all checks after it.

    `kind` is what they play: "armed" for Gaussian rewards, or one of `OF_FAMILIES`.
    """

    def __init__(self, postgres, folder, number, seed, kind="armed", **options):
        self._postgres, self.url = postgres, postgres.database()
        self.workers = SharedWorkers(folder, self.url, number)
        self._luck = np.random.default_rng(seed)
        play = GaussianPlay() if kind == "armed" else ClickPlay(kind, self.url)
        super().__init__(None, seed, server=self.workers, play=play, **options)
        self.play, self._moments = play, HeldMoments(self.url)

    def close(self):
        super().close()
        self._postgres.drop(self.url)

    def line(self):
        return PatientLine(self.workers.port)

    def check(self):
        self.workers.wait_until_folded()
        super().check()

    def _check_all(self, line, stored=None):
        self.workers.wait_until_folded()
        super()._check_all(line, stored)

    def kill_a_worker(self, longest):
        """kill -9 of one worker; the others go on."""
        place = int(self._luck.integers(len(self.workers.servers)))
        self.round(longest, trouble=lambda: self.workers.kill_and_start(place))

    def kill_who_folds(self, longest):
        """kill -9 of whoever folds, in the middle of it: its generation is written, not committed.

        It has locked the tasks that it folds.
        """

        def trouble():
            place = self.workers.kill_at(self._moments, "a generation is written")
            self.workers.servers[place].start()
            self.counts["folders killed"] += 1

        self.round(longest, trouble=trouble)

    def kill_who_changes_arms(self, longest):
        """kill -9 of a worker that adds or retires an arm, at a moment of it."""
        when = [None, "a version is written", "a version is committed"][self._luck.integers(3)]
        place = int(self._luck.integers(len(self.workers.servers)))

        def trouble():
            before, offered = self.workers.agreed(self._policy)
            add = f"arm-{before}" if len(offered) < 4 else None
            retire = None if add else offered[int(self._luck.integers(len(offered)))]
            change = ArmRequest(self._policy, self.workers.servers[place].port, add, retire)
            if when is None:
                change.begin()
                time.sleep(self._luck.uniform(0, 0.1))
                self.workers.kill_settled(self._moments, place)
            else:
                assert self.workers.kill_at(self._moments, when, change.begin) == place
            self.workers.servers[place].start()
            is_there = change.is_there(before, offered, *self.workers.agreed(self._policy))
            assert not (is_there and when == "a version is written")
            if is_there and change.added is not None:
                self.play.add_arm(change.added, *WIDTHS.values())
            self.counts[f"changes of arms {'there' if is_there else 'not there'}"] += 1

        self.round(longest, trouble=trouble)

    def cut_who_folds(self, longest):
        """The session of whoever folds is cut in the middle of it, many times."""

        sql = (
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_database AS own "
            "ON own.oid = database WHERE locktype = 'advisory' AND granted AND datname = %s "
            "AND classid = %s"
        )

        def trouble():
            end, cuts, name = time.monotonic() + 4 * longest, 0, database_of(self.url)
            with self._postgres.admin() as admin:
                while time.monotonic() < end and cuts < 10:
                    cuts += admin.execute(sql, (name, FOLDING)).fetchone()[0]
            self.counts["folds cut"] += cuts

        self.round(longest, trouble=trouble)

    def cut_all(self, longest):
        """All connections are cut."""
        self.round(longest, trouble=lambda: self._postgres.cut(self.url))

    def restart(self, longest):
        """PostgreSQL is stopped and started."""

        def trouble():
            self._postgres.stop()
            time.sleep(0.5)
            self._postgres.start()

        self.round(longest, trouble=trouble)

    def block_a_worker(self, longest):
        """The socket of one worker is blocked for half a minute; the others go on."""
        folder = self.workers.folder / "proxy"
        folder.mkdir(exist_ok=True)
        (folder / ".s.PGSQL.5432").unlink(missing_ok=True)
        with SocketProxy(folder, self._postgres.socket_folder) as proxy:
            self.workers.replace(0, through(self.url, folder))

            def trouble():
                proxy.block()
                time.sleep(25 + longest)
                proxy.unblock()

            self.round(longest, trouble=trouble)
        self.workers.replace(0, self.url)
