"""Where the rollout of a shared policy stands, and the numbered rows of which it is a function."""

from collections.abc import Callable, Sequence
from heapq import merge
from logging import INFO, WARNING
from operator import itemgetter
from typing import Any

import msgspec
import psycopg

from hierbandits.service.api_problem import PolicyGone
from hierbandits.service.json_log import say
from hierbandits.service.ramp import Ramp, RampStep
from hierbandits.service.rollout_rules import (
    CLOCK,
    alarms,
    check_act,
    check_settings,
    is_watched_anew,
    watched,
)
from hierbandits.service.rollout_state import RolloutState
from hierbandits.service.shared_metrics import (
    apply_metric,
    lost_metrics,
    new_metrics,
    number_metrics,
    taken_metrics,
)
from hierbandits.service.shared_version import ArmChange, SharedVersion
from hierbandits.service.stored_event import CHANGE, DELETED

_NOW = "extract(epoch FROM clock_timestamp())::float8"
_OPEN = (
    f"SELECT name, {_NOW}, number, changed, ramp, state FROM shared_policies "
    "LEFT JOIN shared_rollouts ON policy = id WHERE id = %s"
)
_SAVE = (
    "INSERT INTO shared_rollouts (policy, number, changed, ramp, next_step, state) "
    "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (policy) DO UPDATE SET "
    "number = EXCLUDED.number, changed = EXCLUDED.changed, ramp = EXCLUDED.ramp, "
    "next_step = EXCLUDED.next_step, state = EXCLUDED.state"
)
_IS_DUE = (
    "SELECT EXISTS (SELECT FROM shared_rollouts WHERE policy = %(policy)s "
    f"AND next_step <= {_NOW}) "
    "OR EXISTS (SELECT FROM shared_metrics WHERE policy = %(policy)s AND number IS NULL)"
)
_AT_ONCE = 5_000  # metrics that are taken in one transaction
_LOUD = ("rollback", "sample ratio")

Read = Callable[[str, Sequence[Any]], list[Any]]
"""What gives the rows of a query."""


class SharedRollout:
    """Changes a rollout in a transaction in which nobody else folds.

    Each change is a row with the next number, which is written at once; `save` writes where the
    rollout stands then.  The store's clock counts, so that all workers have the same.
    """

    def __init__(self, db: psycopg.Connection[Any], policy: int) -> None:
        self._db, self._policy = db, policy
        row = db.execute(_OPEN, (policy,), binary=True).fetchone()
        if row is None:
            raise PolicyGone("deleted")
        self._name, self._now, number, changed, ramp, state = row
        self._number, self._changed = number or 0, changed or 0
        self._told: list[tuple[str, str]] = []
        self.state = _stored_state(ramp, state)

    def _happen(self, kind: str, parts: dict[str, Any]) -> None:
        """Let an event happen that is a row of its own."""
        event = {"kind": kind, "time": self._now, **parts}
        self._number += 1
        self._changed = self._number
        self._db.execute(
            "INSERT INTO shared_changes (policy, number, data) VALUES (%s, %s, %s)",
            (self._policy, self._number, msgspec.json.encode(event)),
        )
        self.state.apply(self._number, event)
        self._told.append((parts.get("what", kind), parts["by"]))

    def change(self, what: str, by: str, **parts: Any) -> None:
        """Let a change happen."""
        self._happen(CHANGE, {"what": what, "by": by, **parts})

    def settle(
        self, before: SharedVersion | None, after: SharedVersion, number: int, by: str
    ) -> None:
        """The policy has new settings, or its first; a Problem if the rollout must end first."""
        check_settings(self.state.ramp, after.settings)
        was = None if before is None else before.settings
        more = {"watch": _watched(after)} if is_watched_anew(was, after.settings) else {}
        self.change("created" if was is None else "settings", by, policy_version=number, **more)

    def change_arm(self, change: ArmChange, number: int) -> None:
        """An arm is offered from a version on, or no more."""
        parts = {"name": change.name, "by": change.by, "policy_version": number}
        self._happen(change.kind, parts)

    def task_deleted(self, by: str) -> None:
        """A task is deleted; nobody may read here which one it was."""
        self._happen(DELETED, {"by": by})

    def act(
        self,
        version: SharedVersion,
        action: str,
        steps: Sequence[RampStep],
        reason: str,
        by: str,
        made: int | None = None,
    ) -> None:
        """Start a ramp, hold it, resume it, or roll the policy back; a Problem if it cannot be.

        `made` is the number of a version that is made with it.
        """
        check_act(self.state.ramp, version.settings, action, steps, reason)
        more: dict[str, Any] = {"reason": reason} if reason else {}
        if made is not None:
            more["policy_version"] = made
        if action == "start":
            rows = [[step.share, step.seconds] for step in steps]
            more |= {"steps": rows, "watch": _watched(version)}
        self.change("ramp" if action == "start" else action, by, **more)

    def take(self) -> bool:
        """Take metrics that nobody has taken, one after the other; whether there may be more.

        Each gets the next number; a guardrail that it crosses rolls the policy back before the next
        one is taken.
        """
        rows = new_metrics(self._db, self._policy, _AT_ONCE)
        numbered = []
        for id, name, value, data in rows:
            self._number += 1
            numbered.append((id, name, self._number))
            apply_metric(self.state, self._number, name, value, data)
            self._react()
        number_metrics(self._db, self._policy, numbered)
        return len(rows) == _AT_ONCE

    def take_all(self) -> None:
        """Take all metrics that there are: they come before what changes next."""
        while self.take():
            pass

    def _react(self) -> None:
        """Roll back if a guardrail is crossed, and tell if exposures are missing."""
        for what, by, parts in alarms(self.state):
            self.change(what, by, **parts)

    def judge_anew(self) -> None:
        """Stand where the rows say, of which some were deleted."""
        self.state = replayed(self._db, self._policy)
        self._react()

    def step_if_due(self) -> None:
        """Begin the next step of a ramp when its time has come."""
        ramp = self.state.ramp
        if ramp.due is not None and self._now >= ramp.due:
            self.change("step", CLOCK, share=ramp.steps[ramp.step + 1][0])

    def save(self) -> None:
        """Write where the rollout stands now."""
        ramp, parts = self.state.ramp, self.state.to_dict() | {"audit": []}
        del parts["ramp"]
        self._db.execute(
            _SAVE,
            (
                self._policy, self._number, self._changed, msgspec.json.encode(ramp.to_dict()),
                ramp.due, msgspec.msgpack.encode(parts),
            ),
        )  # fmt: skip
        for what, by in self._told:
            level = WARNING if what in _LOUD else INFO
            say("policy changed", level, policy=self._name, what=what, by=by)


def _watched(version: SharedVersion) -> dict[str, Any]:
    return watched(version.settings, version.arms())


def ramp_of(data: bytes) -> Ramp:
    """A ramp as it is stored."""
    return Ramp.from_dict(msgspec.json.decode(data))


def _stored_state(ramp: bytes | None, state: bytes | None) -> RolloutState:
    if ramp is None or state is None:
        return RolloutState()
    parts = msgspec.msgpack.decode(state) | {"ramp": msgspec.json.decode(ramp)}
    return RolloutState.from_dict(parts)


def rollout_now(read: Read, policy: int) -> RolloutState:
    """Where a rollout stands, without its audit log."""
    sql = (
        "SELECT ramp, state FROM shared_policies LEFT JOIN shared_rollouts ON policy = id "
        "WHERE id = %s"
    )
    for row in read(sql, (policy,)):
        return _stored_state(*row)
    raise PolicyGone("deleted")


def rollouts_now(read: Read) -> list[tuple[str, RolloutState]]:
    """Where the rollouts of all policies stand, by their names."""
    sql = "SELECT name, ramp, state FROM shared_policies LEFT JOIN shared_rollouts ON policy = id"
    return [(name, _stored_state(*parts)) for name, *parts in read(sql, ())]


def ramping_policies(read: Read) -> list[str]:
    """The names of policies whose ramps go on by themselves."""
    sql = (
        "SELECT name FROM shared_policies JOIN shared_rollouts ON policy = id "
        "WHERE next_step IS NOT NULL"
    )
    return [name for (name,) in read(sql, ())]


def is_due(read: Callable[[str, dict[str, Any]], list[Any]], policy: int) -> bool:
    """Whether something waits for whoever folds next."""
    ((due,),) = read(_IS_DUE, {"policy": policy})
    return bool(due)


def changes_of(read: Read, policy: int) -> list[tuple[int, dict[str, Any]]]:
    """All changes of a policy with their numbers, the first one first."""
    sql = "SELECT number, data FROM shared_changes WHERE policy = %s ORDER BY number"
    return [(number, msgspec.json.decode(data)) for number, data in read(sql, (policy,))]


def replayed(db: psycopg.Connection[Any], policy: int) -> RolloutState:
    """Where a rollout stands by its rows alone: changes, and metrics between them.

    Metrics from before anything was watched anew say nothing, and are not read.
    """
    changes = changes_of(_reader(db), policy)
    since = max((number for number, event in changes if "watch" in event), default=0)
    rows = taken_metrics(db, policy, since)
    state = RolloutState()
    for number, *parts in merge(changes, rows, key=itemgetter(0)):
        if len(parts) == 1:
            state.apply(number, *parts)
        else:
            apply_metric(state, number, *parts)
    return state


def rollout_faults(db: psycopg.Connection[Any], policy: int) -> list[str]:
    """What is wrong with where a rollout is said to stand, and with its metrics."""
    kept, right = rollout_now(_reader(db), policy), replayed(db, policy)
    faults = []
    if kept.ramp != right.ramp:
        faults.append(f"the rollout is {kept.ramp.phase!r}, but {right.ramp.phase!r} by its rows")
    if _seen_by_watches(kept) != _seen_by_watches(right):
        faults.append("guardrails or the sample ratio are not what metrics say")
    if (lost := lost_metrics(db, policy)) > 0:
        faults.append(f"{lost} metrics are of no decision")
    return faults


def _seen_by_watches(state: RolloutState) -> list[Any]:
    """What is known by watching, in numbers that processors agree on."""
    told: list[Any] = []
    for watch in state.watches.values():
        parts = watch.told()
        told += [parts["count"], parts["control_count"], parts["is_crossed"]]
        told.append(f"{parts['evidence']:.6g}")
    if state.ratio is not None:
        told += [state.ratio.seen, state.ratio_alarm, f"{state.ratio.evidence:.6g}"]
    return told


def _reader(db: psycopg.Connection[Any]) -> Read:
    return lambda sql, values: db.execute(sql, values, binary=True).fetchall()
