"""Whether what workers share is sound: all sums and the hyper-posterior are computed again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.beliefs.contribution import Contribution, merge_contributions
from hierbandits.models.reward_family import RewardFamily
from hierbandits.service.plain_contribution import PlainContribution
from hierbandits.service.postgres_rows import task_key
from hierbandits.service.postgres_tables import check_tables
from hierbandits.service.shared_folder import newest, version_of
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_ledger import features_of, site_of
from hierbandits.service.shared_leftovers import leftovers
from hierbandits.service.shared_rollout import rollout_faults
from hierbandits.service.shared_sums import Behind, SharedSums
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.store_url import StoreUrl
from hierbandits.service.stored_event import as_text

TOLERANCE = 1e-9
FINEST = 1e-5
"""A posterior narrower than this share of its mean is compared as if it were so wide.

Where all rewards are the same, widths of 1e-9 are fitted.  A mean is a number of 16 digits, so it
cannot be right to TOLERANCE of those.
"""
_TASKS = (
    "SELECT task_key, task, sums, folded, dirty FROM shared_tasks "
    "WHERE policy = %s AND task_key > %s ORDER BY task_key LIMIT 1000"
)
_MADE = (
    "SELECT made.task_key, made.id, data, value, {} FROM shared_decisions AS made "
    "LEFT JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = ANY(%s::bytea[])"
)
_SITE = "site_precision, site_weighted"
_UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, Behind, msgspec.MsgspecError)
_BELOW = "a site has a precision below 0"
_SITES_SINCE = 3  # the step of the tables that has brought sites
_ROLLOUTS_SINCE = 7  # and rollouts
_COUNTS = (
    "SELECT (SELECT count(*) FROM shared_decisions WHERE policy = %(policy)s), "
    "(SELECT count(*) FROM shared_rewards WHERE policy = %(policy)s)"
)


@dataclass(slots=True)
class SharedHealth:
    """What a look at one shared policy has found."""

    name: str
    version: int
    decisions: int = 0
    rewards: int = 0
    dirty: int = 0  # tasks whose newest rewards are not folded
    difference: float = 0.0
    """Of the hyper-posterior from that of the log, in standard deviations; but see FINEST."""
    faults: list[str] = field(default_factory=list)


def check_shared(store: str) -> Iterator[SharedHealth]:
    """Look at all shared policies of a store, as of one moment, while workers go on.

    Rows of workers have no checksums.  So what does not follow from other rows is read, and its
    form is checked, but another value is not found: a propensity, a time, an arm without a reward.
    """
    url = StoreUrl(store)
    with url.connect(default_transaction_read_only="on") as db, url.faults():
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        if db.execute("SELECT to_regclass('shared_policies')").fetchone() == (None,):
            return
        if faults := leftovers(db):
            yield SharedHealth("(deleted)", 0, faults=faults)
        sql = "SELECT id, name FROM shared_policies ORDER BY name"
        for policy, name in db.execute(sql).fetchall():
            health = SharedHealth(name, 0)
            try:
                _look_at(db, policy, health)
            except _UNREADABLE as error:
                health.faults.append(f"a row cannot be read: {error!r:.200}")
            yield health


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Let an error say what cannot be read."""
    try:
        yield
    except _UNREADABLE as error:
        raise _Unreadable(f"{what} cannot be read: {error!r:.200}") from error


class _Unreadable(Exception):
    """A row is not what workers write."""


def _look_at(db: psycopg.Connection[Any], policy: int, health: SharedHealth) -> None:
    """Fill in what is found of one policy."""
    ((health.decisions, health.rewards),) = db.execute(_COUNTS, {"policy": policy}).fetchall()
    try:
        with _reading("its newest generation"):
            now, _ = newest(db, policy)
        if now is None:
            health.faults.append("it has no generation")
            return
        health.version = now.version
        with _reading(f"its version {now.version}"):
            version = version_of(db, policy, now.version)
            model = None if version is None else version.model()
        if model is None:
            health.faults.append(f"it has no version {now.version}")
            return
        _compare(db, policy, health, now, SharedTasks(policy, model))
    except _Unreadable as error:
        health.faults.append(str(error))


def _compare(
    db: psycopg.Connection[Any],
    policy: int,
    health: SharedHealth,
    now: SharedGeneration,
    tasks: SharedTasks,
) -> None:
    """Compare a generation and the rows of tasks with decisions and rewards."""
    told, by_log = PlainContribution(now.hierarchy), PlainContribution(now.hierarchy)
    last, counted, folded = b"", 0, 0
    step = check_tables(db)
    has_sites = step >= _SITES_SINCE
    if step >= _ROLLOUTS_SINCE:
        with _reading("a row of its rollout"):
            health.faults += rollout_faults(db, policy)
    made = _MADE.format(_SITE if has_sites else "NULL::float8, NULL::float8")
    wrong = dict[str, None]()
    while rows := db.execute(_TASKS, (policy, last), binary=True).fetchall():
        last, keys = rows[-1][0], [row[0] for row in rows]
        with _reading("the sums of a task"):
            kept, heard = (tasks.sums(row[i] for row in rows) for i in (2, 3))
        if any(task_key(bytes(name).decode(errors="replace")) != key for key, name, *_ in rows):
            wrong["a task has another name than when it was met"] = None
        logged, place = tasks.sums([None] * len(rows)), {key: i for i, key in enumerate(keys)}
        for key, id, data, value, *site in db.execute(made, (policy, keys), binary=True):
            try:
                features, fault = _decision(key, id, data, now.version)
                if value is not None:
                    logged.learn(place[key], features, None, value)
            except _UNREADABLE as error:
                wrong[f"decision {id!r:.80} cannot be read: {error!r:.200}"] = None
                continue
            if fault is not None:
                wrong[fault] = None
            if value is not None and tasks.family is not None:
                wrong |= _site_faults(logged, tasks.family, place[key], features, value, site)
        wrong |= _sum_faults(kept, logged)
        if _BELOW in wrong:  # then nobody knows what the log tells
            health.faults += wrong
            return
        two, part = logged.known(), heard.known()
        clean = [row[2] == row[3] for row in rows]
        if any(not dirty and not same for (*_, dirty), same in zip(rows, clean, strict=True)):
            health.faults.append("a task that is not dirty has rewards that are not folded")
        counted, folded = counted + int(two.n.sum()), folded + int(part.n.sum())
        health.dirty += sum(row[4] for row in rows)
        told.add(part)
        by_log.add(two)
    health.faults += wrong
    with _reading("a version"):
        health.faults += _default_faults(db, policy)
    if counted != health.rewards:
        health.faults.append(f"{health.rewards} rewards must be of tasks, but {counted} are")
    if folded != now.rewards:
        health.faults.append(f"the generation has {now.rewards} rewards, but {folded} are folded")
    health.difference = _difference(now, (told if health.dirty else by_log).told())
    if not health.difference <= TOLERANCE:
        health.faults.append(f"the hyper-posterior differs by {health.difference:g} from the log's")


def _decision(key: bytes, id: bytes, data: bytes, newest: int) -> tuple[Any, str | None]:
    """The features of a decision, and what is wrong with it."""
    parts = msgspec.json.decode(data)
    features, propensity = features_of(parts), parts["propensity"]
    for is_wrong, what in (
        (parts["id"].encode() != id, "another id"),
        (task_key(as_text(parts["task"])) != key, "another task"),
        (propensity is not None and not 0 < propensity <= 1, "a propensity that is none"),
        (not 0 < parts["policy_version"] <= newest, "a version that there is not"),
        (not np.isfinite(features).all(), "features that are not finite"),
    ):
        if is_wrong:
            return features, f"a decision has {what} in its row"
    return features, None


def _default_faults(db: psycopg.Connection[Any], policy: int) -> list[str]:
    """What is wrong with rewards that are only defaults."""
    if db.execute("SELECT to_regclass('shared_waits')").fetchone() == (None,):
        return []  # no worker has given any
    sql = "SELECT settings FROM shared_versions WHERE policy = %s"
    versions = db.execute(sql, (policy,), binary=True).fetchall()
    defaults = {SharedVersion.from_json(data).settings.default_reward for (data,) in versions}
    sql = "SELECT DISTINCT value FROM shared_rewards WHERE policy = %s AND provisional"
    given = {value for (value,) in db.execute(sql, (policy,)).fetchall()}
    return ["a default reward is that of no version"] if given - defaults else []


def _site_faults(
    logged: SharedSums,
    family: RewardFamily,
    place: int,
    features: Any,
    value: float,
    stored: Sequence[float | None],
) -> dict[str, None]:
    """Add a reward's part of its task's sites to sums; what is wrong with it."""
    try:
        family.check("value", np.array([value]), np.ones(1))
    except ValueError as error:
        return {f"a reward is none of {family.NAME} rewards: {error}": None}
    site = site_of(*stored)
    if site is None or not np.isfinite(site).all():
        return {"a reward of a family has no site": None}
    logged.add_site(place, features, site)
    in_sums = logged.armed and family.ADDS_UP  # one site for all rewards of an arm
    return {} if in_sums or site.precision >= 0 else {_BELOW: None}


def _sum_faults(kept: SharedSums, logged: SharedSums) -> dict[str, None]:
    """Which sums of tasks are not those of their rewards."""
    pairs = [
        (name, values, logged.rewards.total(len(logged)).state()[name], "rewards")
        for name, values in kept.rewards.total(len(kept)).state().items()
    ]
    for name in ("precision", "weighted"):
        pairs.append((name, getattr(kept, name), getattr(logged, name), "rewards' sites"))
    faults = dict[str, None]()
    for name, values, others, what in pairs:
        size = np.maximum(np.abs(values).max(initial=1.0), 1.0)
        if not np.abs(values - others).max(initial=0.0) <= TOLERANCE * size:
            faults[f"the sums {name} of a task are not those of its {what}"] = None
    if logged.armed and logged.precision.min(initial=0.0) < -TOLERANCE:
        faults[_BELOW] = None
    return faults


def _difference(now: SharedGeneration, told: Contribution) -> float:
    """How far a generation's hyper-posterior is from that of other sums."""
    known, other = (merge_contributions(now.hierarchy, [part]) for part in (now.told, told))
    stds = np.sqrt(np.diag(other.cov))
    stds = np.maximum(np.where(stds > 0, stds, 1.0), FINEST * np.abs(other.mean))
    mean = np.abs(known.mean - other.mean) / stds
    cov = np.abs(known.cov - other.cov) / np.outer(stds, stds)
    return float(max(mean.max(), cov.max()))
