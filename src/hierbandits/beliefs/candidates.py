"""Hierarchies run side by side on the same events: started, dropped and moved as they fare."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.forest import Forest
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import state_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UNIT_RATIO, Point, UnknownWidths
from hierbandits.types import Indices, Mask, Matrix, Vector

GROWTH = 1.5  # candidates are looked over whenever a population's rewards have grown by this
KEPT = 1e-3  # a candidate of less weight is dropped
EDGE = 0.1  # the neighbours of a candidate of more weight are tried
UNIT_SLACK = 0.75  # how far a unit may be off before it is changed, in steps


class Candidates:
    """A few points of the lattice of `UnknownWidths` for each population, each with its belief.

    A slot is a belief that holds one candidate of every population, or of those where it is
    active.  The sums of all events are kept too: from them a candidate can be started late.
    """

    def __init__(
        self, widths: UnknownWidths, num_tasks: int | tuple[int, ...], num_populations: int
    ) -> None:
        self.widths = widths
        points = widths.usual()
        self._hierarchies: dict[tuple[Point, bytes], GaussianHierarchy] = {}
        self.units = np.zeros((num_populations, widths.dim), np.intp)  # of features, in logs
        plain = np.zeros(widths.dim, np.intp)
        self.slots = [
            Belief(self._hierarchy(point, plain), num_tasks, num_populations) for point in points
        ]
        self.points = np.repeat(np.array(points)[:, None], num_populations, axis=1)  # (C, P, 2)
        self.log_prior = np.repeat([[widths.log_prior(p)] for p in points], num_populations, 1)
        self.evidence = self._joint_evidence()
        self.active: Mask = np.ones((len(points), num_populations), np.bool_)  # (C, P)
        self.count: Vector = np.zeros(num_populations)  # of rewards
        self.due: Vector = np.ones(num_populations)  # the count at which to look next
        self.sums = TaskSums.zeros(self.forest.size, widths.dim, armed=widths.is_armed)
        self._weights: Matrix | None = None

    @property
    def forest(self) -> Forest:
        """The nodes, the same in all slots."""
        return self.slots[0].forest

    def add(self, parent: int, count: int) -> Indices:
        """New tasks; returns their ids."""
        added = [slot.add(parent, count) for slot in self.slots]
        return added[0]

    def learn(
        self, nodes: Indices, population: Indices, table: Matrix | Indices, rewards: Vector
    ) -> None:
        """Every candidate that is left learns the rewards; those that are due are looked over."""
        self.sums = self.sums.with_room(self.forest.size, self.widths.dim)
        self.sums.add_rows(nodes, table, rewards)
        in_all: Mask = np.logical_and.reduce(self.active, axis=1)
        for slot, active, everywhere in zip(self.slots, self.active, in_all, strict=True):
            if everywhere:
                slot.observe_rows(nodes, table, rewards)
            else:
                mine = active[population]
                slot.observe_rows(nodes[mine], table[mine], rewards[mine])
        self._weights = None
        self.count += np.bincount(population, minlength=self.count.size)
        late = np.flatnonzero(self.count >= self.due)
        if late.size:
            self.look_over(late)

    def learn_past(self, nodes: Indices, population: Indices, sums: TaskSums) -> None:
        """Every candidate starts from these sums, a row for each node."""
        self.sums = self.sums.with_room(self.forest.size, self.widths.dim)
        self.sums.put(nodes, sums)
        self.count += np.bincount(population, sums.n, self.count.size)
        everyone = np.arange(self.count.size)
        for slot in range(len(self.slots)):
            self._start(slot, [(p, self._point(slot, p)) for p in everyone.tolist()])
        self.look_over(everyone[self.count > 0])

    def has_seen(self, node: int) -> bool:
        """Whether a task has had a reward."""
        return node < len(self.sums.n) and bool(self.sums.n[node] > 0)

    def revise(self, node: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Every candidate that is left replaces a reward by a corrected one."""
        active = self.active[:, self.forest.population(node)]
        for slot, is_active in zip(self.slots, active, strict=True):
            if is_active:
                slot.revise(node, features, old_reward, new_reward)
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
        known = self.widths.noise_std is not None
        log = self.evidence.log() if known else self.evidence.log_any_scale()
        return np.where(self.active, self.log_prior + log, -np.inf)

    def look_over(self, populations: Indices) -> None:
        """Start what lies beyond an edge that has weight, and drop what has lost its own."""
        self.due[populations] = np.ceil(GROWTH * self.count[populations])
        self._measure(populations)
        tried = {p: set(self._points_of(p)) for p in populations.tolist()}
        while True:
            wanted: dict[int, list[tuple[int, Point]]] = {}  # by slot
            weights = self.weights()
            for p in populations.tolist():
                heavy = self.points[np.flatnonzero(weights[:, p] > EDGE), p].tolist()
                near = {n for i, j in heavy for n in self.widths.neighbours((i, j))}
                new = sorted(near - tried[p])
                tried[p].update(new)
                for slot, point in zip(self._free_slots(p, len(new)), new, strict=True):
                    wanted.setdefault(slot, []).append((p, point))
            if not wanted:
                break
            for slot, starts in wanted.items():
                self._start(slot, starts)
        self.active[:, populations] &= weights[:, populations] > KEPT
        self._discard()

    def _measure(self, populations: Indices) -> None:
        """Give features that turn out larger or smaller than thought another unit."""
        if self.widths.is_armed:
            return
        parent = self.forest.parent[: self.forest.size]
        tasks = np.flatnonzero(parent >= 0)
        squares = np.zeros_like(self.units, float)
        along = np.diagonal(self.sums.xx[tasks], axis1=1, axis2=2)
        np.add.at(squares, ~parent[parent[tasks]], along)
        squares = squares[populations] / self.count[populations, None]
        seen = squares > 0
        steps = np.log(np.where(seen, squares, 1.0)) / np.log(UNIT_RATIO) / 2
        steps = np.clip(steps, *self.widths.unit_steps)
        wrong = seen & (np.abs(steps - self.units[populations]) > UNIT_SLACK)
        units = np.where(wrong, np.rint(steps).astype(np.intp), self.units[populations])
        self.units[populations] = units
        changed = populations[wrong.any(axis=1)]
        for slot in range(len(self.slots)):
            again = changed[self.active[slot, changed]].tolist()
            if again:
                self._start(slot, [(p, self._point(slot, p)) for p in again])

    def _start(self, slot: int, starts: list[tuple[int, Point]]) -> None:
        """Let a slot take up candidates of some populations, with all that they missed."""
        populations = np.array([p for p, _ in starts])
        priors = [self._hierarchy(point, self.units[p]) for p, point in starts]
        self.slots[slot].restart(populations, priors, self.sums)
        self.points[slot, populations] = [point for _, point in starts]
        self.log_prior[slot, populations] = [self.widths.log_prior(point) for _, point in starts]
        self.active[slot, populations] = True
        self._weights = None

    def _point(self, slot: int, population: int) -> Point:
        i, j = self.points[slot, population].tolist()
        return i, j

    def _points_of(self, population: int) -> list[Point]:
        rows = self.points[self.active[:, population], population].tolist()
        return [(i, j) for i, j in rows]

    def _free_slots(self, population: int, number: int) -> list[int]:
        """Slots that hold no candidate of this population, new ones if need be."""
        free = np.flatnonzero(~self.active[:, population]).tolist()
        while len(free) < number:
            free.append(len(self.slots))
            self.slots.append(self.slots[0].copy())
            self.points = np.concatenate([self.points, self.points[:1]])
            self.log_prior = np.concatenate([self.log_prior, self.log_prior[:1]])
            self.active = np.concatenate([self.active, np.zeros_like(self.active[:1])])
            self.evidence = self._joint_evidence()
            self._weights = None
        return free[:number]

    def _joint_evidence(self) -> Evidence:
        """That of all slots in one place, (C, P), where each writes its own row."""
        joint = Evidence(*np.empty((3, len(self.slots), self.forest.num_populations)))
        for c, slot in enumerate(self.slots):
            slot.keep_evidence_in(Evidence(joint.count[c], joint.log_var[c], joint.square[c]))
        return joint

    def _discard(self) -> None:
        """Forget slots that hold nothing."""
        kept = np.flatnonzero(self.active.any(axis=1))
        self.slots = [self.slots[c] for c in kept]
        self.points, self.active = self.points[kept], self.active[kept]
        self.log_prior = self.log_prior[kept]
        self.evidence = self._joint_evidence()
        self._weights = None

    def _hierarchy(self, point: Point, units: Indices) -> GaussianHierarchy:
        key = point, units.tobytes()
        if key not in self._hierarchies:
            self._hierarchies[key] = self.widths.hierarchy(point, units)
        return self._hierarchies[key]

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays, without copies."""
        arrays = {name: getattr(self, name) for name in ("units", "points", "active")}
        arrays |= {name: getattr(self, name) for name in ("count", "due")}
        arrays |= {name: getattr(self.sums, name) for name in _SUMS}
        metas = []
        for c, slot in enumerate(self.slots):
            meta, parts = slot.state()
            metas.append(meta)
            arrays |= {f"{c}.{name}": array for name, array in parts.items()}
        return {"widths": self.widths.to_dict(), "slots": metas}, arrays

    @classmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> "Candidates":
        """The candidates that `state` described, checked."""
        found = cls.__new__(cls)
        found.widths, found._hierarchies = UnknownWidths.from_dict(meta["widths"]), {}
        found.slots = []
        for c, part in enumerate(meta["slots"]):
            own = {n.split(".", 1)[1]: a for n, a in arrays.items() if n.startswith(f"{c}.")}
            found.slots.append(Belief.from_state(part, own))
        dim = found.widths.dim
        slots, populations = len(found.slots), found.forest.num_populations
        parents = [slot.forest.parent[: slot.num_nodes] for slot in found.slots]
        if not all(np.array_equal(parent, parents[0]) for parent in parents):
            raise ValueError("slots must have the same nodes")
        found.units = np.array(arrays["units"], np.intp).reshape(populations, dim)
        found.points = np.array(arrays["points"], np.intp).reshape(slots, populations, 2)
        prior = [[found.widths.log_prior((i, j)) for i, j in row] for row in found.points.tolist()]
        found.log_prior = np.array(prior).reshape(slots, populations)
        found.active = np.array(arrays["active"], np.bool_).reshape(slots, populations)
        if not found.active.any(axis=0).all():
            raise ValueError("active must leave every population a candidate")
        found.count = state_array("count", arrays["count"], (populations,))
        found.due = state_array("due", arrays["due"], (populations,))
        shape = (None, dim) if found.widths.is_armed else (None, dim, dim)
        xx = state_array("xx", arrays["xx"], shape)
        rest = [state_array(name, arrays[name], (len(xx),)) for name in ("yy", "n")]
        found.sums = TaskSums(xx, state_array("xy", arrays["xy"], (len(xx), dim)), *rest)
        found.evidence, found._weights = found._joint_evidence(), None
        return found


_SUMS = ("xx", "xy", "yy", "n")
