"""The arms that each event may play, without a copy where events share them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from hierbandits.beliefs.best_arms import best_scored
from hierbandits.checks import (
    LARGEST,
    check_unmasked,
    count,
    generator,
    index_array,
    read_only,
    real_array,
    state_array,
)
from hierbandits.kernels.arm_arrays import ArmArrays
from hierbandits.types import Indices, Mask, Matrix, Vector


class Arms:
    """One feature table, and the rows of it that each event may play.

    Event e has offset[e + 1] - offset[e] arms.  Their rows in the table are rows[start[e]],
    rows[start[e] + 1] and so on.  An arm's number, by which the caller knows it, is its row
    less base[e].  `of` and `grouped` make them; nobody can change them.
    """

    __slots__ = ("_own_base", "_own_offset", "_own_rows", "_own_start", "_own_table")
    _own_table: Matrix | Indices  # kernels take these arrays on trust
    _own_rows: Indices
    _own_start: Indices
    _own_offset: Indices
    _own_base: Indices

    def __init__(self) -> None:
        raise TypeError("Arms are made by Arms.of or Arms.grouped")

    @classmethod
    def _laid_out(
        cls, table: Matrix | Indices, rows: Indices, start: Indices, offset: Indices, base: Indices
    ) -> "Arms":
        """Arms of arrays that fit each other."""
        arms = cls.__new__(cls)
        arms._own_table, arms._own_rows, arms._own_start = table, rows, start
        arms._own_offset, arms._own_base = offset, base
        return arms

    @property
    def table(self) -> Matrix | Indices:
        """The features of all arms, (n, d), or arm indices, (n,), when armed; cannot be written."""
        return read_only(self._own_table)

    @property
    def rows(self) -> Indices:
        """Rows of the table; cannot be written."""
        return read_only(self._own_rows)

    @property
    def start(self) -> Indices:
        """Where each event's rows begin, (E,); cannot be written."""
        return read_only(self._own_start)

    @property
    def offset(self) -> Indices:
        """The running number of arms, (E + 1,); cannot be written."""
        return read_only(self._own_offset)

    @property
    def base(self) -> Indices:
        """The row of each event's arm number 0, (E,); cannot be written."""
        return read_only(self._own_base)

    @property
    def num_events(self) -> int:
        """The number of events E."""
        return self._own_start.size

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
        num_events, dim = count("num_events", num_events), count("dim", dim, least=1)
        if type(largest) is not float:
            largest = float(real_array("largest", largest, ()))
        if isinstance(arms, Arms):
            if arms.num_events != num_events:
                raise ValueError(f"arms must serve {num_events} events, got {arms.num_events}")
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
        return cls._laid_out(table, np.arange(len(table)), start, offset, start).only(eligible)

    @classmethod
    def _raw_shared(cls, table: Matrix | Indices, num_events: int) -> "Arms":
        """One set for all events; the table is not checked."""
        rows, start, offset = _shared_layout(len(table), num_events)
        return cls._laid_out(table, rows, start, offset, start)

    @classmethod
    def grouped(cls, sets: ArrayLike, group: ArrayLike) -> "Arms":
        """Event e may play sets[group[e]], of (G, K, d): one set for each simulation run, say."""
        features = real_array("sets", sets, (None, None, None))
        num_sets, size, dim = features.shape
        if size == 0:
            raise ValueError(f"sets must have at least one arm each, got shape {features.shape}")
        start = index_array("group", group, num_sets, "sets") * size
        _, _, offset = _shared_layout(size, start.size)
        rows, _, _ = _shared_layout(num_sets * size, 0)
        return cls._laid_out(features.reshape(-1, dim), rows, start, offset, start)

    @classmethod
    def _raw_of_rows(cls, table: Matrix | Indices, rows: Indices, sizes: Indices) -> "Arms":
        """Event e may play sizes[e] of these rows of the table, event after event; not checked.

        An arm's number is its row.
        """
        offset = np.append(0, np.cumsum(sizes))
        return cls._laid_out(table, rows, offset[:-1].copy(), offset, np.zeros(sizes.size, np.intp))

    def _checked(self, dim: int, armed: bool, largest: float) -> "Arms":
        """These arms, if their table may be played."""
        table = _checked_set(self._own_table, dim, armed, largest)
        if table is self._own_table:
            return self
        return Arms._laid_out(
            table, self._own_rows, self._own_start, self._own_offset, self._own_base
        )

    @property
    def sizes(self) -> Indices:
        """How many arms each event has, (E,)."""
        return np.diff(self._own_offset)

    def rows_of(self, event: int) -> Indices:
        """The table rows of one event's arms."""
        event = int(index_array("event", [event], self.num_events, "events")[0])
        start = self._own_start[event]
        return self.rows[start : start + self._own_offset[event + 1] - self._own_offset[event]]

    def flat_rows(self) -> Indices:
        """The table rows of all events' arms, event after event."""
        within = np.arange(self._own_offset[-1]) - np.repeat(self._own_offset[:-1], self.sizes)
        flat: Indices = self._own_rows[np.repeat(self._own_start, self.sizes) + within]
        return flat

    def repeated(self, times: int) -> "Arms":
        """The same events, so many times over."""
        times = count("times", times)
        offset = np.append(0, np.cumsum(np.tile(self.sizes, times)))
        start, base = np.tile(self._own_start, times), np.tile(self._own_base, times)
        return Arms._laid_out(self._own_table, self._own_rows, start, offset, base)

    @property
    def _raw_arrays(self) -> ArmArrays:
        """What kernels take."""
        return ArmArrays(
            (self._own_table, self._own_rows, self._own_start, self._own_offset, self._own_base)
        )

    def best(self, scores: ArrayLike, rng: Generator) -> Indices:
        """The number of each event's arm of highest score; ties are broken at random.

        `scores` has one for each arm of each event, in the order of `flat_rows`.
        """
        return best_scored(self.checked_scores(scores), self._raw_arrays, generator("rng", rng))

    def checked_scores(self, scores: ArrayLike) -> Vector:
        """Scores as kernels take them, one for each arm of each event; infinite ones may be."""
        number = int(self._own_offset[-1])
        return real_array("scores", scores, (number,), " to match the arms", largest=np.inf)

    def values(self, theta: ArrayLike) -> Vector:
        """The value of each arm of each event if the events' parameters are theta, (E, d).

        The order is that of `flat_rows`.
        """
        table, armed = self._own_table, self._own_table.ndim == 1
        dim = None if armed else table.shape[1]
        own = state_array("theta", theta, (self.num_events, dim))
        if armed:
            index_array("arms", table, own.shape[1], "arms in theta")
        rows, event = self.flat_rows(), np.repeat(np.arange(len(own)), self.sizes)
        if armed:
            values: Vector = own[event, table[rows]]
            return values
        linear: Vector = np.einsum("jd,jd->j", table[rows], own[event])
        return linear

    def numbers(self, places: ArrayLike) -> Indices:
        """The numbers of arms that are given by their places among each event's eligible arms."""
        most = int(self.sizes.max(initial=0))
        checked = self._one_each("places", index_array("places", places, most, "arms"))
        if (checked >= self.sizes).any():
            raise ValueError(f"places must be below {self.sizes!r:.80}, got {checked!r:.80}")
        numbers: Indices = self._own_rows[self._own_start + checked] - self._own_base
        return numbers

    def features(self, choices: ArrayLike) -> Matrix | Indices:
        """The features of the chosen arm of each event."""
        size = len(self._own_table)
        checked = self._one_each("choices", index_array("choices", choices, size, "rows of arms"))
        rows = self._own_base + checked
        if (rows >= size).any():
            raise ValueError(f"choices must be arms of the {size} rows, got {checked!r:.80}")
        return self._own_table.take(rows, axis=0)

    def _one_each(self, name: str, values: Indices) -> Indices:
        """Values, if there is one for each event."""
        if values.size != self.num_events:
            raise ValueError(f"{name} must match {self.num_events} events, got {values.size}")
        return values

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
        return Arms._laid_out(self._own_table, flat, offset[:-1].copy(), offset, self._own_base)


@lru_cache(maxsize=64)
def _shared_layout(size: int, num_events: int) -> tuple[Indices, Indices, Indices]:
    """The rows, starts and offsets of events that share one set; `Arms` shows nobody else them."""
    start = np.zeros(num_events, np.intp)
    return np.arange(size), start, np.arange(num_events + 1) * size


def _checked_table(
    arms: Any, num_events: int, dim: int, armed: bool, largest: float
) -> tuple[Matrix | Indices, Indices | None]:
    """The feature table, and the size of each event's set, or None if all share one."""
    check_unmasked("arms", arms)
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
    check_unmasked("eligible", eligible)
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
