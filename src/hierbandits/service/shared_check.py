"""Whether what workers share is sound: all sums and the hyper-posterior are computed again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.beliefs.contribution import Contribution, merge_contributions
from hierbandits.models.reward_family import RewardFamily
from hierbandits.service.postgres_tables import check_tables
from hierbandits.service.shared_folder import newest, version_of
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_ledger import features_of, site_of
from hierbandits.service.shared_sums import SharedSums
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.store_url import StoreUrl

TOLERANCE = 1e-9
_TASKS = (
    "SELECT task_key, sums, folded, dirty FROM shared_tasks "
    "WHERE policy = %s AND task_key > %s ORDER BY task_key LIMIT 1000"
)
_REWARDED = (
    "SELECT made.task_key, data, value, {} FROM shared_decisions AS made "
    "JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = ANY(%s::bytea[])"
)
_SITE = "site_precision, site_weighted"
_BELOW = "a site has a precision below 0"
_SITES_SINCE = 3  # the step of the tables that has brought sites
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
    """Of the hyper-posterior from that of the log, in its own standard deviations and variances."""
    faults: list[str] = field(default_factory=list)


def check_shared(store: str) -> Iterator[SharedHealth]:
    """Look at all shared policies of a store, as of one moment, while workers go on."""
    url = StoreUrl(store)
    with url.connect(default_transaction_read_only="on") as db, url.faults():
        db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        if db.execute("SELECT to_regclass('shared_policies')").fetchone() == (None,):
            return
        sql = "SELECT id, name FROM shared_policies ORDER BY name"
        for policy, name in db.execute(sql).fetchall():
            now, _ = newest(db, policy)
            if now is None:
                yield SharedHealth(name, 0, faults=["it has no generation"])
            else:
                yield _looked_at(db, policy, SharedHealth(name, now.version), now)


def _looked_at(
    db: psycopg.Connection[Any], policy: int, health: SharedHealth, now: SharedGeneration
) -> SharedHealth:
    version = version_of(db, policy, now.version)
    if version is None:
        health.faults.append(f"it has no version {now.version}")
        return health
    tasks = SharedTasks(policy, version.model())
    ((health.decisions, health.rewards),) = db.execute(_COUNTS, {"policy": policy}).fetchall()
    absent, last, counted, folded = AbsentTasks.of(now.hierarchy), b"", 0, 0
    told = by_log = absent.nothing()
    has_sites = check_tables(db) >= _SITES_SINCE
    rewarded = _REWARDED.format(_SITE if has_sites else "NULL::float8, NULL::float8")
    wrong = dict[str, None]()
    while rows := db.execute(_TASKS, (policy, last), binary=True).fetchall():
        last, keys = rows[-1][0], [row[0] for row in rows]
        kept, heard = tasks.sums(row[1] for row in rows), tasks.sums(row[2] for row in rows)
        logged, place = tasks.sums([None] * len(rows)), {key: i for i, key in enumerate(keys)}
        for key, data, value, *site in db.execute(rewarded, (policy, keys), binary=True):
            features = features_of(msgspec.json.decode(data))
            logged.learn(place[key], features, None, value)
            if tasks.family is not None:
                wrong |= _site_faults(logged, tasks.family, place[key], features, value, site)
        wrong |= _sum_faults(kept, logged)
        if _BELOW in wrong:  # then nobody knows what the log tells
            health.faults += wrong
            return health
        two, part = logged.known(), heard.known()
        clean = [row[1] == row[2] for row in rows]
        if any(not dirty and not same for (*_, dirty), same in zip(rows, clean, strict=True)):
            health.faults.append("a task that is not dirty has rewards that are not folded")
        counted, folded = counted + int(two.n.sum()), folded + int(part.n.sum())
        health.dirty += sum(row[3] for row in rows)
        told, by_log = _sum(told, absent.told_by(part)), _sum(by_log, absent.told_by(two))
    health.faults += wrong
    if counted != health.rewards:
        health.faults.append(f"{health.rewards} rewards must be of tasks, but {counted} are")
    if folded != now.rewards:
        health.faults.append(f"the generation has {now.rewards} rewards, but {folded} are folded")
    health.difference = _difference(now, told if health.dirty else by_log)
    if not health.difference <= TOLERANCE:
        health.faults.append(f"the hyper-posterior differs by {health.difference:g} from the log's")
    return health


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


def _sum(one: Contribution, two: Contribution) -> Contribution:
    return Contribution(one.precision + two.precision, one.weighted + two.weighted)


def _difference(now: SharedGeneration, told: Contribution) -> float:
    """How far a generation's hyper-posterior is from that of other sums."""
    known, other = (merge_contributions(now.hierarchy, [part]) for part in (now.told, told))
    stds = np.sqrt(np.diag(other.cov))
    stds = np.where(stds > 0, stds, 1.0)
    mean = np.abs(known.mean - other.mean) / stds
    cov = np.abs(known.cov - other.cov) / np.outer(stds, stds)
    return float(max(mean.max(), cov.max()))
