"""All policies that workers of a store share, by name."""

import logging
import secrets
import threading
import time
from collections.abc import Callable

from hierbandits.service.api_problem import Problem, bad_request, not_found
from hierbandits.service.json_log import say
from hierbandits.service.policy_book import check_name
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.postgres_tables import OF_A_SHARED_POLICY
from hierbandits.service.shared_folder import AT_ONCE, SharedFolder, put_version
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.shared_model import family_of, shared_model
from hierbandits.service.shared_policy import GROWTH, SharedPolicy
from hierbandits.service.shared_turns import SharedTurns
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.storage import PolicyRecord, StorageFailed, VersionRecord

REFRESH = 1.0
"""Seconds after which rewards are folded, however few they are."""
_LEAST = 0.02  # seconds between two folds
_FIXED = ("encoder", "rewards")
_OF_ARMS = ("arms", "num_features")


class SharedBook:
    """Finds shared policies, creates, changes and deletes them, and has them folded.

    What one worker does the others see in the store.
    """

    def __init__(self, links: SharedLinks, clock: Callable[[], float] = time.time) -> None:
        self.links, self._clock = links, clock
        self._turns: dict[str, SharedTurns] = {}
        self._wake, self._is_closing = threading.Event(), False
        self._folding = threading.Thread(target=self._run, name="folding", daemon=True)

    def start(self) -> None:
        """Begin to fold."""
        self._folding.start()

    def records(self) -> list[PolicyRecord]:
        """All policies."""
        rows = self.links.read("SELECT id, name, salt, created FROM shared_policies")
        return sorted((PolicyRecord(*row) for row in rows), key=lambda record: record.name)

    def record(self, name: str) -> PolicyRecord:
        """What is stored of the policy of a name."""
        sql = "SELECT id, name, salt, created FROM shared_policies WHERE name = %s"
        for row in self.links.read(sql, (name,)):
            return PolicyRecord(*row)
        raise not_found("policy", name)

    def known(self, name: str) -> SharedTurns | None:
        """The policy of a name, if this worker has decided for it before."""
        return self._turns.get(name)

    def turns(self, name: str) -> SharedTurns:
        """The policy of a name."""
        turns = self.known(name)
        if turns is None:
            live = SharedPolicy(self.record(name), self.links, self._clock)
            turns = self._turns.setdefault(name, SharedTurns(live, self._wake.set))
        return turns

    def look(self) -> None:
        """See which policies there are now; those that are gone are forgotten."""
        known = {record.id for record in self.records()}
        for name, turns in list(self._turns.items()):
            if turns.live.record.id not in known:
                del self._turns[name]

    def versions(self, name: str) -> list[VersionRecord]:
        """All versions of a policy."""
        sql = (
            "SELECT number, settings, 0, created FROM shared_versions WHERE policy = %s "
            "ORDER BY number"
        )
        rows = self.links.read(sql, (self.record(name).id,))
        return [
            VersionRecord(number, SharedVersion.from_json(data).settings.to_json(), *rest)
            for number, data, *rest in rows
        ]

    def put(self, name: str, settings: PolicySettings) -> tuple[int, bool]:
        """Create a policy, or make a new version of it; its version, and whether it is new."""
        check_name(name)
        try:
            settings.check()
            model = shared_model(settings)
            policy = secrets.randbits(62)
            folder = SharedFolder(policy, model, self.links)
            first = folder.first()
        except (ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
            raise bad_request(str(error)) from error
        with self.links.transaction() as db:
            made = db.execute(
                "INSERT INTO shared_policies (id, name, salt, created) VALUES (%s, %s, %s, %s) "
                "ON CONFLICT (name) DO NOTHING",
                (policy, name, secrets.token_bytes(16), self._clock()),
            )
            if made.rowcount:
                put_version(db, policy, 1, SharedVersion(settings))
                folder.put(db, first)
                return 1, True
        return self._change(name, settings), False

    def _change(self, name: str, settings: PolicySettings) -> int:
        live = SharedPolicy(self.record(name), self.links, self._clock)
        if live.settings == settings:
            return live.version

        def change(old: SharedVersion) -> SharedVersion:
            try:
                new = old.with_settings(settings)
            except ValueError as error:
                raise bad_request(str(error)) from error
            _check_fit(old, new)
            return new

        return self.folder(live).change_version(change).version

    def change_arms(self, live: SharedPolicy, change: ArmChange) -> None:
        """Offer an arm from now on, or no more; other workers hear of it before they decide."""
        try:
            self.folder(live).change_version(lambda old: old.with_change(change))
        except ValueError as error:
            raise bad_request(str(error)) from error
        live.refresh()

    def delete(self, name: str) -> None:
        """Erase a policy and all that it has seen."""
        policy = self.record(name).id
        with self.links.transaction(LONG) as db:
            db.execute("DELETE FROM shared_policies WHERE id = %s", (policy,))
            for table in OF_A_SHARED_POLICY:
                db.execute(f"DELETE FROM {table} WHERE policy = %s", (policy,))
        self.look()

    def folder(self, live: SharedPolicy) -> SharedFolder:
        """What folds a policy."""
        version = live.version  # before the model: if that is newer, it is read again
        return SharedFolder(live.record.id, live.model, self.links, version)

    def _run(self) -> None:
        """Fold what is new each second, or when there is enough of it, if nobody else does."""
        while not self._is_closing:
            self._wake.wait(REFRESH / 2)
            self._wake.clear()
            for turns in list(self._turns.values()):
                try:
                    self._fold(turns.live)
                except StorageFailed as error:
                    say("nothing can be folded now", logging.WARNING, error=str(error))
                except Exception as error:  # other policies go on, and other workers may do better
                    say("folding failed", logging.ERROR, error=repr(error))
            time.sleep(_LEAST)

    def _fold(self, live: SharedPolicy) -> None:
        """Fold what is new of a policy that this worker decides for, if it is time."""
        folder = self.folder(live)
        number = folder.fold(REFRESH, GROWTH)
        while number == AT_ONCE and not self._is_closing:
            number = folder.fold()  # what is left, though the newest generation is new
        live.folded(folder.rewards)

    def close(self) -> None:
        """Fold no more, and serve no more."""
        self._is_closing = True
        self._wake.set()
        if self._folding.is_alive():
            self._folding.join()
        for turns in self._turns.values():
            turns.close()


def _check_fit(old: SharedVersion, new: SharedVersion) -> None:
    """Raise a Problem if sums of tasks under one version mean something else under the other."""
    was, settings = old.model(), new.settings
    try:
        model = new.model()
    except ValueError as error:
        raise Problem(409, "log_does_not_fit", str(error)) from error
    # Sums of features do not depend on arms, unless an encoder knows these by name.
    by_features = not (model.is_armed or was.is_armed) and settings.encoder is None
    for part in _FIXED if by_features else _OF_ARMS + _FIXED:
        if getattr(settings, part) != getattr(old.settings, part):
            raise Problem(
                409, "log_does_not_fit",
                f"{part} must stay as it is where workers share a policy",
            )  # fmt: skip
    if (model.dim, model.is_armed) != (was.dim, was.is_armed):
        raise Problem(409, "log_does_not_fit", "prior must have as many arms or features")
    if family_of(model) != family_of(was):
        raise Problem(409, "log_does_not_fit", "prior must be of the same family of rewards")
