"""Hierarchies of different widths, run side by side on the same events."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.forest import Forest
from hierbandits.beliefs.nodes import Nodes
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UNIT_RATIO, Point, UnknownWidths
from hierbandits.types import Indices, Mask, Matrix, Vector

GROWTH = 1.5  # candidates are reviewed whenever a population's rewards have grown by this
KEPT = 1e-3  # a candidate with less weight is dropped
HEAVY = 0.1  # the neighbours of a candidate with more weight are tried
UNIT_SLACK = 0.75  # how far a unit may be off before it is changed, in steps


class Candidates:
    """For each population a few points of the lattice of `UnknownWidths`, each with its belief.

    `beliefs[c]` holds the candidate `points[c, p]` of every population p where `active[c, p]`.
    The sums of all events are kept too: from them a candidate can start late.
    """

    def __init__(
        self,
        prior: UnknownWidths,
        num_tasks: int | tuple[int, ...],
        num_populations: int,
        population: ArrayLike | None = None,
    ) -> None:
        self.prior = prior
        points = prior.first_points()
        self._hierarchies: dict[tuple[Point, bytes], GaussianHierarchy] = {}
        plain = np.zeros(prior.dim, np.intp)
        self.beliefs = [
            Belief(self._hierarchy(point, plain), num_tasks, num_populations, population=population)
            for point in points
        ]
        num_populations = self.beliefs[0].num_populations
        self.units = np.zeros((num_populations, prior.dim), np.intp)  # powers of UNIT_RATIO
        self.points = np.repeat(np.array(points)[:, None], num_populations, axis=1)  # (C, P, 2)
        self.log_prior = np.repeat([[prior.log_prior(p)] for p in points], num_populations, 1)
        self.evidence = self._joint_evidence()
        self.active: Mask = np.ones((len(points), num_populations), np.bool_)  # (C, P)
        self.count: Vector = np.zeros(num_populations)  # of rewards
        self.due: Vector = np.ones(num_populations)  # the count at which to look next
        self.sums = TaskSums.zeros(self.forest.size, prior.dim, armed=prior.is_armed)
        self._weights: Matrix | None = None

    @property
    def nodes(self) -> Nodes:
        """Those of the first candidate; all candidates have the same forest."""
        return self.beliefs[0]._nodes

    @property
    def forest(self) -> Forest:
        """The shape that all candidates share."""
        return self.nodes.forest

    def add(self, parent: int, count: int) -> Indices:
        """New tasks; returns their ids."""
        added = [belief.add(parent, count) for belief in self.beliefs]
        return added[0]

    def learn(
        self, nodes: Indices, population: Indices, table: Matrix | Indices, rewards: Vector
    ) -> None:
        """Every active candidate learns the rewards; populations that are due are reviewed."""
        self.sums = self.sums.with_room(self.forest.size, self.prior.dim)
        self.sums.add_rows(nodes, table, rewards)
        in_all: Mask = np.logical_and.reduce(self.active, axis=1)
        for belief, active, everywhere in zip(self.beliefs, self.active, in_all, strict=True):
            if everywhere:
                belief.observe_rows(nodes, table, rewards)
            else:
                mine = active[population]
                belief.observe_rows(nodes[mine], table[mine], rewards[mine])
        self._weights = None
        self.count += np.bincount(population, minlength=self.count.size)
        late = np.flatnonzero(self.count >= self.due)
        if late.size:
            self.review(late)

    def learn_past(self, nodes: Indices, population: Indices, sums: TaskSums) -> None:
        """Every candidate starts from these sums, a row for each node."""
        self.sums = self.sums.with_room(self.forest.size, self.prior.dim)
        self.sums.put(nodes, sums)
        self.count += np.bincount(population, sums.n, self.count.size)
        everyone = np.arange(self.count.size)
        for c in range(len(self.beliefs)):
            self._start(c, [(p, self._point(c, p)) for p in everyone.tolist()])
        self.review(everyone[self.count > 0])

    def has_seen(self, node: int) -> bool:
        """Whether a task has had a reward."""
        return node < len(self.sums.n) and bool(self.sums.n[node] > 0)

    def revise(self, node: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Every candidate that is left replaces a reward by a corrected one."""
        active = self.active[:, self.forest.population(node)]
        for belief, is_active in zip(self.beliefs, active, strict=True):
            if is_active:
                belief.revise(node, features, old_reward, new_reward)
        self.sums.revise(node, features, old_reward, new_reward)
        self._weights = None

    def weights(self) -> Matrix:
        """The posterior probability of each candidate, (C, P)."""
        if self._weights is None:
            log = self.log_weights()
            weights = np.exp(log - log.max(axis=0))
            self._weights = weights / weights.sum(axis=0)
        return self._weights

    def log_weights(self) -> Matrix:
        """The log of prior weight times evidence of each candidate, (C, P)."""
        known = self.prior.noise_std is not None
        log = self.evidence.log() if known else self.evidence.log_any_scale()
        return np.where(self.active, self.log_prior + log, -np.inf)

    def review(self, populations: Indices) -> None:
        """Start the neighbours of candidates with much weight, and drop those with hardly any."""
        self.due[populations] = np.ceil(GROWTH * self.count[populations])
        self._measure(populations)
        tried = {p: set(self._points_of(p)) for p in populations.tolist()}
        while True:
            wanted: dict[int, list[tuple[int, Point]]] = {}  # by candidate
            weights = self.weights()
            for p in populations.tolist():
                heavy = self.points[np.flatnonzero(weights[:, p] > HEAVY), p].tolist()
                near = {n for i, j in heavy for n in self.prior.neighbours((i, j))}
                new = sorted(near - tried[p])
                tried[p].update(new)
                for c, point in zip(self._free(p, len(new)), new, strict=True):
                    wanted.setdefault(c, []).append((p, point))
            if not wanted:
                break
            for c, starts in wanted.items():
                self._start(c, starts)
        self.active[:, populations] &= weights[:, populations] > KEPT
        self._discard()

    def _measure(self, populations: Indices) -> None:
        """Change the unit of features that turn out to be much larger or smaller than it."""
        if self.prior.is_armed:
            return
        parent = self.forest.parent[: self.forest.size]
        tasks = np.flatnonzero(parent >= 0)
        squares = np.zeros_like(self.units, float)
        along = np.diagonal(self.sums.xx[tasks], axis1=1, axis2=2)
        np.add.at(squares, ~parent[parent[tasks]], along)
        squares = squares[populations] / self.count[populations, None]
        seen = squares > 0
        steps = np.log(np.where(seen, squares, 1.0)) / np.log(UNIT_RATIO) / 2
        steps = np.clip(steps, *self.prior.unit_steps)
        wrong = seen & (np.abs(steps - self.units[populations]) > UNIT_SLACK)
        units = np.where(wrong, np.rint(steps).astype(np.intp), self.units[populations])
        self.units[populations] = units
        changed = populations[wrong.any(axis=1)]
        for c in range(len(self.beliefs)):
            again = changed[self.active[c, changed]].tolist()
            if again:
                self._start(c, [(p, self._point(c, p)) for p in again])

    def _start(self, c: int, starts: list[tuple[int, Point]]) -> None:
        """Start candidates of some populations in belief c, with all events that they missed."""
        populations = np.array([p for p, _ in starts])
        priors = [self._hierarchy(point, self.units[p]) for p, point in starts]
        self.beliefs[c].restart(populations, priors, self.sums)
        self.points[c, populations] = [point for _, point in starts]
        self.log_prior[c, populations] = [self.prior.log_prior(point) for _, point in starts]
        self.active[c, populations] = True
        self._weights = None

    def _point(self, c: int, population: int) -> Point:
        i, j = self.points[c, population].tolist()
        return i, j

    def _points_of(self, population: int) -> list[Point]:
        rows = self.points[self.active[:, population], population].tolist()
        return [(i, j) for i, j in rows]

    def _free(self, population: int, number: int) -> list[int]:
        """So many beliefs that hold no candidate of this population; new ones if needed."""
        free = np.flatnonzero(~self.active[:, population]).tolist()
        while len(free) < number:
            free.append(len(self.beliefs))
            self.beliefs.append(self.beliefs[0].copy())
            self.points = np.concatenate([self.points, self.points[:1]])
            self.log_prior = np.concatenate([self.log_prior, self.log_prior[:1]])
            self.active = np.concatenate([self.active, np.zeros_like(self.active[:1])])
            self.evidence = self._joint_evidence()
            self._weights = None
        return free[:number]

    def _joint_evidence(self) -> Evidence:
        """The evidence of all candidates in one place, (C, P), where each writes its own row."""
        joint = Evidence(np.empty((len(self.beliefs), 3, self.forest.num_populations)))
        for c, belief in enumerate(self.beliefs):
            belief.keep_evidence_in(Evidence(joint.parts[c]))
        return joint

    def _discard(self) -> None:
        """Forget beliefs that hold no candidate."""
        kept = np.flatnonzero(self.active.any(axis=1))
        self.beliefs = [self.beliefs[c] for c in kept]
        self.points, self.active = self.points[kept], self.active[kept]
        self.log_prior = self.log_prior[kept]
        self.evidence = self._joint_evidence()
        self._weights = None

    def _hierarchy(self, point: Point, units: Indices) -> GaussianHierarchy:
        key = point, units.tobytes()
        if key not in self._hierarchies:
            self._hierarchies[key] = self.prior.hierarchy(point, units)
        return self._hierarchies[key]

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        arrays = {name: getattr(self, name) for name in ("units", "points", "active")}
        arrays |= {name: getattr(self, name) for name in ("count", "due")}
        arrays |= self.sums.state()
        metas = []
        for c, belief in enumerate(self.beliefs):
            meta, parts = belief.state()
            metas.append(meta)
            arrays |= {f"{c}.{name}": array for name, array in parts.items()}
        return {"widths": self.prior.to_dict(), "candidates": metas}, arrays

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Candidates":
        """The candidates that `state` described, checked."""
        held = cls.__new__(cls)
        held.prior, held._hierarchies = UnknownWidths.from_dict(meta["widths"]), {}
        held.beliefs = []
        for c, part in enumerate(meta["candidates"]):
            own = {n.split(".", 1)[1]: a for n, a in arrays.items() if n.startswith(f"{c}.")}
            held.beliefs.append(Belief.from_state(part, own))
        dim = held.prior.dim
        number, populations = len(held.beliefs), held.forest.num_populations
        parents = [b._nodes.forest.parent[: b.num_nodes] for b in held.beliefs]
        if not all(np.array_equal(parent, parents[0]) for parent in parents):
            raise ValueError("candidates must have the same nodes")
        held.units = np.array(arrays["units"], np.intp).reshape(populations, dim)
        held.points = np.array(arrays["points"], np.intp).reshape(number, populations, 2)
        logs = [[held.prior.log_prior((i, j)) for i, j in row] for row in held.points.tolist()]
        held.log_prior = np.array(logs).reshape(number, populations)
        held.active = np.array(arrays["active"], np.bool_).reshape(number, populations)
        if not held.active.any(axis=0).all():
            raise ValueError("active must leave every population a candidate")
        held.count = state_array("count", arrays["count"], (populations,))
        held.due = state_array("due", arrays["due"], (populations,))
        held.sums = TaskSums.from_state(arrays, dim, armed=held.prior.is_armed)
        held.evidence, held._weights = held._joint_evidence(), None
        return held
