"""All policies that workers of a store share, by name."""

import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from hierbandits.service.api_problem import PolicyGone, Problem, bad_request, not_found
from hierbandits.service.json_log import say
from hierbandits.service.live_rollout import ANYBODY
from hierbandits.service.policy_book import check_name
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.postgres_tables import OF_A_SHARED_POLICY
from hierbandits.service.shared_folder import AT_ONCE, SharedFolder, lock_folding, put_version
from hierbandits.service.shared_links import LONG, SharedLinks
from hierbandits.service.shared_model import family_of, shared_model
from hierbandits.service.shared_policy import GROWTH, SharedPolicy
from hierbandits.service.shared_rollout import SharedRollout, ramping_policies
from hierbandits.service.shared_turns import SharedTurns
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.storage import PolicyRecord, StorageFailed, VersionRecord

REFRESH = 1.0
"""Seconds after which rewards are folded, however few they are."""
_LEAST = 0.02  # seconds between two folds
_FIXED = ("encoder",)
_OF_ARMS = ("arms", "num_features")


class SharedBook:
    """Finds shared policies, creates, changes and deletes them, and has them folded.

    What one worker does the others see in the store.  `gave_up` is told of which policy, and how
    many decisions, have the default in place of a reward.
    """

    def __init__(
        self,
        links: SharedLinks,
        clock: Callable[[], float] = time.time,
        gave_up: Callable[[str, int], object] = lambda name, number: None,
    ) -> None:
        self.links, self._clock, self._gave_up = links, clock, gave_up
        self._turns: dict[str, SharedTurns] = {}
        self._looking = threading.Lock()
        self._wake, self._is_closing = threading.Event(), False
        self._folding = threading.Thread(target=self._run, name="folding", daemon=True)

    def start(self) -> None:
        """Begin to fold."""
        self._folding.start()

    def records(self) -> list[PolicyRecord]:
        """All policies."""
        rows = self.links.read("SELECT id, name, salt, created FROM shared_policies")
        return sorted((PolicyRecord(*row) for row in rows), key=lambda record: record.name)

    def marks(self) -> dict[str, list[Any]]:
        """What changes when policies offer something else, by name in their order.

        Their salts, their newest versions, and the last changes of their rollouts.
        """
        sql = (
            "SELECT name, salt, (SELECT max(number) FROM shared_versions WHERE policy = id), "
            "(SELECT changed FROM shared_rollouts WHERE policy = id) FROM shared_policies"
        )
        rows = sorted(self.links.read(sql), key=lambda row: row[0])
        return {name: [salt.hex(), *numbers] for name, salt, *numbers in rows}

    def record(self, name: str) -> PolicyRecord:
        """What is stored of the policy of a name."""
        sql = "SELECT id, name, salt, created FROM shared_policies WHERE name = %s"
        for row in self.links.read(sql, (name,)):
            return PolicyRecord(*row)
        raise not_found("policy", name)

    def known(self, name: str) -> SharedTurns | None:
        """The policy of a name, if this worker has decided for it before."""
        turns = self._turns.get(name)
        return None if turns is None or turns.is_gone else turns

    def forget(self, name: str) -> None:
        """Look for the policy of a name anew: there may be another one."""
        self._turns.pop(name, None)

    def turns(self, name: str) -> SharedTurns:
        """The policy of a name."""
        turns = self.known(name)
        if turns is None:
            live = SharedPolicy(self.record(name), self.links, self._clock)
            with self._looking:  # of those who look at once one is first
                turns = self.known(name)
                if turns is None:
                    turns = self._turns[name] = SharedTurns(live, self._wake.set)
        return turns

    def look(self) -> None:
        """See which policies there are now, and fold those that are ramped.

        Those that are gone are forgotten.
        """
        known = {record.id for record in self.records()}
        for name, turns in list(self._turns.items()):
            if turns.live.record.id not in known:
                self.forget(name)
        for name in ramping_policies(self.links.read):
            self.turns(name)

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

    def put(self, name: str, settings: PolicySettings, by: str = ANYBODY) -> tuple[int, bool]:
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
                version = SharedVersion.first(settings)
                put_version(db, policy, 1, version)
                folder.put(db, first)
                rollout = SharedRollout(db, policy)
                rollout.settle(None, version, 1, by)
                rollout.save()
        if made.rowcount:
            self.forget(name)  # one that was deleted
            return 1, True
        return self._change(name, settings, by), False

    def _change(self, name: str, settings: PolicySettings, by: str) -> int:
        live = SharedPolicy(self.record(name), self.links, self._clock)
        if live.settings == settings:
            return live.version

        def change(old: SharedVersion, rollout: SharedRollout, number: int) -> SharedVersion:
            try:
                new = old.with_settings(settings)
            except ValueError as error:
                raise bad_request(str(error)) from error
            _check_fit(old, new)
            if new != old:
                rollout.settle(old, new, number, by)
            return new

        return self.folder(live).change_version(change).version

    def change_arms(self, live: SharedPolicy, change: ArmChange) -> None:
        """Offer an arm from now on, or no more; other workers hear of it before they decide."""

        def happen(old: SharedVersion, rollout: SharedRollout, number: int) -> SharedVersion:
            new = old.with_change(change)
            rollout.change_arm(change, number)
            return new

        try:
            self.folder(live).change_version(happen)
        except ValueError as error:
            raise bad_request(str(error)) from error
        live.refresh()

    def delete(self, name: str) -> None:
        """Erase a policy and all that it has seen."""
        policy = self.record(name).id
        with self.links.transaction(LONG) as db:
            lock_folding(db, policy)  # or who folds or changes it now would leave rows
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
                    self._give_up(turns)
                except PolicyGone:  # `look` forgets it
                    turns.is_gone = True
                except StorageFailed as error:
                    say("nothing can be folded now", logging.WARNING, error=str(error))
                except Exception as error:  # other policies go on, and other workers may do better
                    say("folding failed", logging.ERROR, error=repr(error))
            time.sleep(_LEAST)

    def _fold(self, live: SharedPolicy) -> None:
        """Fold what is new of a policy that this worker decides for, if it is time."""
        folder = self.folder(live)
        while folder.tick() and not self._is_closing:  # first: a rollback waits for no fold
            pass  # there are more metrics than one transaction takes
        number = folder.fold(REFRESH, GROWTH)
        while number == AT_ONCE and not self._is_closing:
            number = folder.fold()  # what is left, though the newest generation is new
        live.folded(folder.rewards)

    def _give_up(self, turns: SharedTurns) -> None:
        """Give decisions the default that have waited too long, some at a time."""
        has_more = turns.live.settings.default_reward is not None
        while has_more and not self._is_closing:
            try:
                number, has_more = turns.between(turns.live.give_up)
            except Problem:  # it is deleted
                return
            if number:
                self._gave_up(turns.live.record.name, number)

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
        raise Problem(
            409, "log_does_not_fit",
            "rewards must stay as they are where workers share a policy, and a prior must be of "
            "the same family",
        )  # fmt: skip
