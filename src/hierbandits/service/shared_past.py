"""What tasks of a shared policy learn from rewards that the store has already."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import psycopg

from hierbandits.agent.decision import task_name
from hierbandits.agent.visited_tasks import VisitedTasks
from hierbandits.beliefs.absent_tasks import AbsentTasks, without
from hierbandits.beliefs.contribution import Contribution, merge_contributions
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.single_site import Site, match_sites
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.service.postgres_rows import columns
from hierbandits.service.shared_ledger import features_of
from hierbandits.service.shared_links import look_at_tables
from hierbandits.service.shared_sums import SharedSums
from hierbandits.service.shared_tasks import SharedTasks
from hierbandits.service.shared_version import SharedVersion
from hierbandits.service.shared_widths import SharedWidths
from hierbandits.types import Matrix

_AT_ONCE = 500  # tasks that are read at a time
_ROWS = 5_000  # rewards that are read at a time
_MOST_SWEEPS = 20
_STILL = 1e-4
"""Sites are settled when the hyper-mean moves by less, in its standard deviations."""
_TASKS = (
    "SELECT task_key, task, sums FROM shared_tasks WHERE policy = %s AND task_key > %s "
    f"ORDER BY task_key LIMIT {_AT_ONCE}"
)
_GIVEN = (
    "SELECT made.task_key, made.id, data, value, coalesce(site_precision, 0), "
    "coalesce(site_weighted, 0) FROM shared_decisions AS made JOIN shared_rewards AS given "
    "ON given.policy = made.policy AND given.id = made.id "
    "WHERE made.policy = %s AND made.task_key = ANY(%s::bytea[]) "
    "ORDER BY made.task_key, given.at, made.id"
)
_SUMS = (
    "UPDATE shared_tasks SET sums = new.sums, folded = new.sums "
    "FROM unnest(%b::bytea[], %b::bytea[]) AS new (task_key, sums) "
    "WHERE policy = %s AND shared_tasks.task_key = new.task_key"
)
_SITES = (
    "UPDATE shared_rewards SET site_precision = new.precision, site_weighted = new.weighted "
    "FROM unnest(%b::bytea[], %b::float8[], %b::float8[]) AS new (id, precision, weighted) "
    "WHERE policy = %s AND shared_rewards.id = new.id"
)


class SharedPast:
    """Rewards of a policy that nobody serves yet, in the transaction that has written them.

    Where rewards belong to a family, their sites are matched in sweeps over all tasks, until the
    population is settled.  So they depend on no order, and are as good as any that workers match.
    """

    def __init__(self, db: psycopg.Connection[Any], policy: int, version: SharedVersion) -> None:
        self._db, self._policy, self._version = db, policy, version
        self._model = version.model()
        self._tasks = SharedTasks(policy, self._model)

    def learn(self) -> int:
        """Let all tasks have the sums of their rewards, and these be folded; their number."""
        look_at_tables(self._db)  # nobody else sees the new rows, and plans are for as many
        self._db.execute("SET LOCAL cursor_tuple_fraction = 1")  # all rows are read, not a tenth
        number = 0
        for keys, _, _ in self._rows():
            sums, places = self._tasks.sums([None] * len(keys)), _places(keys)
            for key, _, data, value, *_ in self._given(keys):
                sums.learn(places[key], features_of(msgspec.json.decode(data)), None, value)
                number += 1
            self._keep(keys, sums)
        if self._tasks.family is not None and number:
            self._settle(GeneralizedHierarchy(self._believed(number), self._tasks.family))
        return number

    def _believed(self, number: int) -> GaussianHierarchy:
        """The widths that are stated, or those that so many rewards support."""
        widths = SharedWidths(self._policy, self._model)
        hierarchy, due = widths.first()
        if due is not None and number >= due:
            rows = ((keys, self._tasks.sums(sums)) for keys, _, sums in self._rows())
            hierarchy, _ = widths.fitted(self._db, rows, number, None)
        return hierarchy

    def _rows(self) -> Iterator[tuple[list[bytes], list[bytes], list[bytes | None]]]:
        """All tasks, some at a time: their keys, names and sums."""
        last = b""
        while rows := self._db.execute(_TASKS, (self._policy, last), binary=True).fetchall():
            keys, names, sums = columns(rows, 3)
            yield keys, names, sums
            last = keys[-1]

    def _given(self, keys: Sequence[bytes]) -> Iterator[Any]:
        """The rewards of tasks, one task after the other; not all of them are in memory."""
        with self._db.cursor("given", binary=True) as rows:
            rows.itersize = _ROWS
            yield from rows.execute(_GIVEN, (self._policy, list(keys)))

    def _keep(self, keys: Sequence[bytes], sums: SharedSums) -> None:
        """Let tasks that have learned have these sums."""
        seen = np.flatnonzero(sums.known().n > 0).tolist()
        rows = [(keys[place], sums.row(place)) for place in seen]
        self._db.execute(_SUMS, (*columns(rows, 2), self._policy))

    def _settle(self, model: GeneralizedHierarchy) -> None:
        """Match the sites of all rewards."""
        agent = self._version.make_agent([], 0, model)
        assert isinstance(agent.belief, MatchedBelief)
        visits, absent = VisitedTasks(agent), AbsentTasks.of(model.hierarchy)
        in_sums = model.is_armed and model.rewards.ADDS_UP
        told = absent.nothing()
        for _ in range(_MOST_SWEEPS):
            before = merge_contributions(model.hierarchy, [told])
            for keys, names, rows in self._rows():
                sums = self._tasks.sums(rows)
                part = absent.told_by(sums.known())
                tasks = [task_name(msgspec.json.decode(name)) for name in names]
                visits.come(tasks, sums.rewards, without(told, part), sums.known())
                nodes = [agent.node(task) for task in tasks]
                match = self._match_arms if in_sums else self._match_rewards
                match(agent.belief, nodes, keys, sums)
                self._keep(keys, sums)
                more = absent.told_by(sums.known())
                told = Contribution(
                    told.precision + more.precision - part.precision,
                    told.weighted + more.weighted - part.weighted,
                )
            after = merge_contributions(model.hierarchy, [told])
            stds = np.sqrt(np.diag(after.cov))
            if not (np.abs(after.mean - before.mean) > _STILL * stds).any():
                break
        if in_sums:
            self._share_out()

    def _match_arms(
        self, belief: MatchedBelief, nodes: Sequence[int], keys: Sequence[bytes], sums: SharedSums
    ) -> None:
        """Let the sum of all rewards of an arm of a task have one site."""
        part = sums.rewards.state(len(sums))
        totals, sizes = part["xy"] + part["lost_xy"], part["xx"]
        for place, node in enumerate(nodes):
            arms = np.flatnonzero(sizes[place])
            before = np.stack([sums.precision[place, arms], sums.weighted[place, arms]], axis=1)
            after = match_sites(
                belief, node, arms, totals[place, arms], sizes[place, arms].copy(), before
            )
            sums.precision[place, arms], sums.weighted[place, arms] = after.T

    def _match_rewards(
        self, belief: MatchedBelief, nodes: Sequence[int], keys: Sequence[bytes], sums: SharedSums
    ) -> None:
        """Let each reward have a site of its own."""
        places = _places(keys)
        for key, rows in groupby(self._given(keys), key=itemgetter(0)):
            _, ids, data, values, *sites = columns(rows, 6)
            features = [features_of(msgspec.json.decode(one)) for one in data]
            table = np.array(features, np.intp if belief.is_armed else float)
            before: Matrix = np.array(sites).T
            after = match_sites(
                belief, nodes[places[key]], table, np.array(values), np.ones(len(values)), before
            )
            for row, change in zip(features, after - before, strict=True):
                sums.add_site(places[key], row, Site(*change.tolist()))
            self._put_sites(zip(ids, *after.T.tolist(), strict=True))

    def _share_out(self) -> None:
        """Let each reward of an arm have an equal part of the arm's site."""
        for keys, _, rows in self._rows():
            sums, places = self._tasks.sums(rows), _places(keys)
            parts = (
                (id, *_part(sums, places[key], features_of(msgspec.json.decode(data))))
                for key, id, data, *_ in self._given(keys)
            )
            while some := list(islice(parts, _ROWS)):
                self._put_sites(some)

    def _put_sites(self, rows: Iterable[tuple[bytes, float, float]]) -> None:
        self._db.execute(_SITES, (*columns(rows, 3), self._policy))


def _part(sums: SharedSums, place: int, arm: int) -> Site:
    """What each reward of an arm has in the arm's site."""
    _, number = sums.arm_total(place, arm)
    site = sums.arm_site(place, arm)
    return Site(site.precision / number, site.weighted / number)


def _places(keys: Sequence[bytes]) -> dict[bytes, int]:
    return {key: place for place, key in enumerate(keys)}
