"""The arms that each event may play, without a copy where events share them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.best_arms import best_scored, best_under
from hierbandits.checks import LARGEST, index_array, real_array
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.types import Indices, Mask, Matrix, Vector


@dataclass(slots=True, eq=False)  # not frozen: one is made for every decision, and that is slow
class Arms:
    """One feature table, and the rows of it that each event may play.

    Event e has offset[e + 1] - offset[e] arms.  Their rows in the table are rows[start[e]],
    rows[start[e] + 1] and so on.  An arm's number, by which the caller knows it, is its row
    less base[e].
    """

    table: Matrix | Indices  # (n, d), or arm indices (n,) when armed
    rows: Indices  # of the table
    start: Indices  # (E,) where each event's rows begin
    offset: Indices  # (E + 1,) the running number of arms
    base: Indices  # (E,) the row of each event's arm number 0

    @classmethod
    def of(
        cls,
        arms: Any,
        num_events: int,
        dim: int,
        *,
        armed: bool,
        eligible: Any = None,
        largest: float = LARGEST,
    ) -> "Arms":
        """The arms that a caller gives, checked.

        `arms` is one set for all events, (K, d); one for each, (E, K, d); or a sequence of E sets
        of any sizes.  When armed, sets hold arm indices, and None stands for all the arms.
        `eligible` is a mask of shape (K,) or (E, K), or a sequence of E masks.  Features above
        `largest` in size are refused.
        """
        if isinstance(arms, Arms):
            if arms.start.size != num_events:
                raise ValueError(f"arms must serve {num_events} events, got {arms.start.size}")
            return arms._checked(dim, armed, largest).only(eligible)
        if arms is None:
            if not armed:
                raise ValueError("arms must be given: a (K, d) array, or one set for each event")
            arms = np.arange(dim)
        table, sizes = _checked_table(arms, num_events, dim, armed, largest)
        if (len(table) == 0) if sizes is None else (0 in sizes):
            raise ValueError("arms must hold at least one arm for every event, got an empty set")
        if sizes is None:
            return cls._raw_shared(table, num_events).only(eligible)
        offset = np.append(0, np.cumsum(sizes))
        start = offset[:-1].copy()
        return cls(table, np.arange(len(table)), start, offset, start).only(eligible)

    @classmethod
    def _raw_shared(cls, table: Matrix | Indices, num_events: int) -> "Arms":
        """One set for all events; the table is not checked."""
        rows, start, offset = _shared_layout(len(table), num_events)
        return cls(table, rows, start, offset, start)

    @classmethod
    def grouped(cls, sets: ArrayLike, group: ArrayLike) -> "Arms":
        """Event e may play sets[group[e]], of (G, K, d): one set for each simulation run, say."""
        features = real_array("sets", sets, (None, None, None))
        num_sets, size, dim = features.shape
        start = index_array("group", group, num_sets, "sets") * size
        _, _, offset = _shared_layout(size, start.size)
        rows, _, _ = _shared_layout(num_sets * size, 0)
        return cls(features.reshape(-1, dim), rows, start, offset, start)

    @classmethod
    def _raw_of_rows(cls, table: Matrix | Indices, rows: Indices, sizes: Indices) -> "Arms":
        """Event e may play sizes[e] of these rows of the table, event after event; not checked.

        An arm's number is its row.
        """
        offset = np.append(0, np.cumsum(sizes))
        return cls(table, rows, offset[:-1].copy(), offset, np.zeros(sizes.size, np.intp))

    def _checked(self, dim: int, armed: bool, largest: float) -> "Arms":
        """These arms, if their table may be played."""
        table = _checked_set(self.table, dim, armed, largest)
        if table is self.table:
            return self
        return Arms(table, self.rows, self.start, self.offset, self.base)

    @property
    def sizes(self) -> Indices:
        """How many arms each event has, (E,)."""
        return np.diff(self.offset)

    def rows_of(self, event: int) -> Indices:
        """The table rows of one event's arms."""
        start = self.start[event]
        return self.rows[start : start + self.offset[event + 1] - self.offset[event]]

    def flat_rows(self) -> Indices:
        """The table rows of all events' arms, event after event."""
        within = np.arange(self.offset[-1]) - np.repeat(self.offset[:-1], self.sizes)
        flat: Indices = self.rows[np.repeat(self.start, self.sizes) + within]
        return flat

    def repeated(self, times: int) -> "Arms":
        """The same events, so many times over."""
        offset = np.append(0, np.cumsum(np.tile(self.sizes, times)))
        start, base = np.tile(self.start, times), np.tile(self.base, times)
        return Arms(self.table, self.rows, start, offset, base)

    @property
    def _raw_arrays(self) -> ArmArrays:
        """What kernels take."""
        return ArmArrays((self.table, self.rows, self.start, self.offset, self.base))

    def best(self, scores: Vector, rng: Generator) -> Indices:
        """The number of each event's arm of highest score; ties are broken at random.

        `scores` has one for each arm of each event, in the order of `flat_rows`.
        """
        return best_scored(scores, self._raw_arrays, rng)

    def best_under(self, theta: Matrix, slots: Indices, rng: Generator) -> Indices:
        """The number of each event's best arm if the event's parameter is theta[slots[e]]."""
        return best_under(theta, slots, self._raw_arrays, rng)

    def values(self, theta: Matrix) -> Vector:
        """The value of each arm of each event if the events' parameters are theta, (E, d).

        The order is that of `flat_rows`.
        """
        rows, event = self.flat_rows(), np.repeat(np.arange(len(theta)), self.sizes)
        if self.table.ndim == 1:
            armed: Vector = theta[event, self.table[rows]]
            return armed
        linear: Vector = np.einsum("jd,jd->j", self.table[rows], theta[event])
        return linear

    def numbers(self, places: Indices) -> Indices:
        """The numbers of arms that are given by their places among each event's eligible arms."""
        numbers: Indices = self.rows[self.start + places] - self.base
        return numbers

    def features(self, choices: Indices) -> Matrix | Indices:
        """The features of the chosen arm of each event."""
        return self.table.take(self.base + choices, axis=0)

    def only(self, eligible: Any) -> "Arms":
        """The arms that a mask leaves; None leaves all of them.  See `of`."""
        if eligible is None:
            return self
        masks = _checked_masks(eligible, self.sizes)
        sizes = np.array([int(mask.sum()) for mask in masks], np.intp)
        if (sizes == 0).any():
            raise ValueError(f"eligible must leave an arm, got none for event {sizes.argmin()}")
        rows = [self.rows_of(event)[mask] for event, mask in enumerate(masks)]
        offset = np.append(0, np.cumsum(sizes))
        flat = np.concatenate([np.empty(0, np.intp), *rows])  # of no events too
        return Arms(self.table, flat, offset[:-1].copy(), offset, self.base)


@lru_cache(maxsize=64)
def _shared_layout(size: int, num_events: int) -> tuple[Indices, Indices, Indices]:
    """The rows, starts and offsets of events that share one set; nobody writes to them."""
    start = np.zeros(num_events, np.intp)
    return np.arange(size), start, np.arange(num_events + 1) * size


def _checked_table(
    arms: Any, num_events: int, dim: int, armed: bool, largest: float
) -> tuple[Matrix | Indices, Indices | None]:
    """The feature table, and the size of each event's set, or None if all share one."""
    axes_of_a_set = 1 if armed else 2
    if isinstance(arms, Sequence) and len(arms) > 0 and num_axes(arms[0]) == axes_of_a_set:
        if len(arms) != num_events:
            raise ValueError(f"arms must hold {num_events} sets to match tasks, got {len(arms)}")
        sets = [_checked_set(one, dim, armed, largest) for one in arms]
        joined: Any = np.concatenate(sets)
        return joined, np.array([len(one) for one in sets])
    if num_axes(arms) == axes_of_a_set:
        return _checked_set(arms, dim, armed, largest), None
    array = np.asarray(arms)
    if array.ndim == axes_of_a_set + 1 and len(array) == num_events:
        table = _checked_set(array.reshape(-1, *array.shape[2:]), dim, armed, largest)
        return table, np.full(num_events, array.shape[1])
    shapes = f"(K,) or ({num_events}, K)" if armed else f"(K, {dim}) or ({num_events}, K, {dim})"
    raise ValueError(f"arms must have shape {shapes}, got {array.shape}")


def _checked_set(arms: Any, dim: int, armed: bool, largest: float) -> Matrix | Indices:
    """Features, (K, d), or arm indices, (K,)."""
    if armed:
        return index_array("arms", arms, dim, "arms")
    return real_array("arms", arms, (None, dim), largest=largest)


def num_axes(value: Any) -> int:
    """The number of axes of an array or of nested sequences, which may differ in length."""
    if isinstance(value, list | tuple):
        return 1 + (num_axes(value[0]) if value else 0)
    return int(np.ndim(value))


def _checked_masks(eligible: Any, sizes: Indices) -> list[Mask]:
    """One boolean mask for each event."""
    if isinstance(eligible, str) or num_axes(eligible) == 0:
        raise ValueError(f"eligible must be a mask or a mask for each event, got {eligible!r:.80}")
    if len(eligible) > 0 and num_axes(eligible[0]) == 0:  # one for all
        eligible = [eligible] * sizes.size
    masks = [np.asarray(mask) for mask in eligible]
    for mask, size in zip(masks, sizes, strict=False):
        if mask.dtype != np.bool_ or mask.shape != (size,):
            raise ValueError(
                f"eligible must be booleans of shape ({size},) for each event, "
                f"got {mask.dtype} of shape {mask.shape}"
            )
    if len(masks) != sizes.size:
        raise ValueError(f"eligible must have {sizes.size} masks to match tasks, got {len(masks)}")
    return masks
