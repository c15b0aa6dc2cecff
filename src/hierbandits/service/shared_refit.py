"""All rewards of a shared policy are matched again, because its widths are new."""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.beliefs.absent_tasks import AbsentTasks
from hierbandits.beliefs.family_sites import FamilySites
from hierbandits.beliefs.refit import TOLERANCE
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.reward_family import RewardFamily
from hierbandits.service.postgres_rows import columns
from hierbandits.service.shared_generation import SharedGeneration
from hierbandits.service.shared_ledger import features_of
from hierbandits.service.shared_sums import SharedSums
from hierbandits.service.shared_tasks import SharedTasks

_GIVEN = (
    "SELECT made.task_key, made.id, data, value FROM shared_decisions AS made "
    "JOIN shared_rewards AS given ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = ANY(%b::bytea[]) "
    "ORDER BY made.task_key, given.at, made.id"
)
_SITES = (
    "UPDATE shared_rewards SET site_precision = new.precision, site_weighted = new.weighted "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[]) AS new (id, precision, weighted) "
    "WHERE policy = %s AND shared_rewards.id = new.id"
)


class SharedRefit:
    """Expectation propagation over all rewards of a policy, as a belief in one process does it.

    All tasks that have learned are locked, and all that they have learned is folded in the end.
    """

    def __init__(self, db: psycopg.Connection[Any], policy: int, tasks: SharedTasks) -> None:
        self._db, self._policy, self._tasks = db, policy, tasks

    def of(self, generation: SharedGeneration) -> SharedGeneration:
        """The generation with all that tasks have learned by now, matched under its widths."""
        hierarchy, family = generation.hierarchy, self._tasks.family
        assert family is not None
        known = self._sums(hierarchy, family).known()
        told = AbsentTasks.of(hierarchy).told_by(known)
        return replace(generation, told=told, rewards=int(known.n.sum()))

    def _sums(self, hierarchy: GaussianHierarchy, family: RewardFamily) -> SharedSums:
        """What tasks know then."""
        rows = self._tasks.locked_all(self._db)
        keys, sums = list(rows), self._tasks.sums(rows.values())
        found = self._db.execute(_GIVEN, (self._policy, keys), binary=True).fetchall()
        of_key, ids, data, values = columns(found, 4)
        places = {key: place for place, key in enumerate(keys)}
        tasks = np.array([places[key] for key in of_key], np.intp)  # in order, as keys are
        features = [features_of(msgspec.json.decode(one)) for one in data]
        table = np.array(features, np.intp if sums.armed else float)
        in_sums, one = sums.armed and family.ADDS_UP, np.zeros(len(keys), np.intp)
        if in_sums:
            sites = FamilySites.of_arms(family, sums.rewards.total(len(sums)))
        else:
            sites = FamilySites(
                family, tasks, table, np.array(values), np.ones(len(values)),
                num_tasks=len(keys), dim=hierarchy.dim,
            )  # fmt: skip
        sites.match(hierarchy.hyper_mean, hierarchy.covs, one, TOLERANCE)
        sums.put_sites(sites.sums())
        parts = sites.sites[:2].T
        if in_sums:  # each reward of an arm has an equal part of the arm's site
            number = sums.rewards.total(len(sums)).xx[tasks, table]
            parts = np.column_stack([sums.precision[tasks, table], sums.weighted[tasks, table]])
            parts /= number[:, None]
        self._db.execute(_SITES, (ids, *parts.T.tolist(), self._policy))
        self._tasks.fold_all(self._db, keys, sums)
        return sums
