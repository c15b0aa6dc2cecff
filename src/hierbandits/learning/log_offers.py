"""What simulated decisions offer: who comes is given, what is shown is chosen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from hierbandits.environments.events import Events
from hierbandits.keyed_random import Stream
from hierbandits.learning.sentence import listed
from hierbandits.policies.arms import Arms
from hierbandits.types import Indices, Mask, Matrix, Name

ARMS = 10  # of an offer, where the log shows more things than that
LEAST_PAIRS = 30  # rows with another of their task, from which a feature is seen not to vary


class Blocks(NamedTuple):
    """Features of one visitor, in the place of one of the arms: the rest are zeros."""

    num_arms: int
    order: Literal["arm first", "feature first"]  # which index runs slowly

    def split(self, rows: Matrix) -> Matrix:
        """Rows as (n, arms, features)."""
        if self.order == "arm first":
            return rows.reshape(len(rows), self.num_arms, -1)
        return rows.reshape(len(rows), -1, self.num_arms).swapaxes(1, 2)

    def joined(self, parts: Matrix) -> Matrix:
        """The opposite of `split`, (..., arms, features)."""
        if self.order == "feature first":
            parts = parts.swapaxes(-1, -2)
        return parts.reshape(*parts.shape[:-2], -1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogOffers:
    """Offers like those of a log of features, from a sample of its rows.

    Features that never differ within a task belong to the task: it keeps them.  Features in
    `given` belong to who comes: one row of the log has them for all that an event offers.  The
    others are what is shown: all different things that the log shows if these are few, otherwise
    those of ARMS rows at random.  In `blocks`, a visitor is offered in the place of every arm.
    """

    table: Matrix  # (n, d)
    coordinates: tuple[Name, ...]
    fixed: Mask  # features of a task, (d,)
    given: Mask  # features of who comes, (d,)
    shown: Matrix | None  # different things to show, (k, d), zero in all other features
    blocks: Blocks | None
    tasks: Indices  # of each row of the table, (n,)
    home: Indices | None = None  # the row that acting tasks have their features of; None: any

    @classmethod
    def of(
        cls,
        table: Matrix,
        tasks: Indices,
        coordinates: tuple[Name, ...],
        context: Sequence[Name] | None = None,
        blocks: Blocks | None = None,
    ) -> "LogOffers":
        """See which features are whose; `context` names those of who comes, unless in blocks."""
        given = np.isin(np.arange(len(coordinates)), _places(context, coordinates))
        if blocks is None and context is None:
            blocks = blocks_of(table)
        fixed = _never_vary(table, tasks) & ~given
        if blocks is not None or (fixed | given).all():
            fixed = np.zeros_like(fixed)
        chosen = ~(fixed | given)
        shown = np.unique(np.where(chosen, table, 0.0), axis=0)
        if not chosen.any() or (given.any() and len(shown) < 2):
            raise ValueError(
                "context must leave features that differ between what is shown, got "
                f"{list(context or ())!r:.80}"
            )
        return cls(
            table=table,
            coordinates=coordinates,
            fixed=fixed,
            given=given,
            shown=shown if len(shown) <= ARMS else None,
            blocks=blocks,
            tasks=tasks,
        )

    def to(self, own: Indices) -> "LogOffers":
        """Offers to these tasks of the log, which keep features of their own."""
        order = np.argsort(self.tasks, kind="stable")
        places = np.searchsorted(self.tasks[order], own)
        first = order[np.minimum(places, order.size - 1)]
        return replace(self, home=np.where(self.tasks[first] == own, first, -1))

    def sets(self, seed: int, events: Events) -> Arms:
        """What each event may choose from: a function of the seed and the event alone."""
        size, dim = len(self.table), self.table.shape[1]
        num_events = events.run.size
        visitor = _row(Stream(seed, "visitor").uniforms(events, 1)[:, 0], size)
        if self.blocks is not None:
            who = self.blocks.split(self.table[visitor]).sum(1)  # (E, features)
            parts = np.eye(self.blocks.num_arms)[:, :, None] * who[:, None, None, :]
            return Arms.grouped(self.blocks.joined(parts), np.arange(num_events))
        if self.shown is not None:
            offered = np.broadcast_to(self.shown, (num_events, *self.shown.shape))
        else:
            rows = _row(Stream(seed, "actions").uniforms(events, ARMS), size)
            if not (self.fixed | self.given).any():
                return Arms._raw_of_rows(self.table, rows.ravel(), np.full(num_events, ARMS))
            offered = np.where(self.fixed | self.given, 0.0, self.table[rows])
        who = np.where(self.given, self.table[visitor], 0.0)
        who += np.where(self.fixed, self.table[self._homes(seed, events)], 0.0)
        return Arms.grouped(offered + who[:, None, :].reshape(num_events, 1, dim),
                            np.arange(num_events))  # fmt: skip

    def _homes(self, seed: int, events: Events) -> Indices:
        """The row that each event's task has its features of."""
        once = Events(events.run, events.task, np.zeros_like(events.interaction))
        anyone = _row(Stream(seed, "home").uniforms(once, 1)[:, 0], len(self.table))
        if self.home is None:
            return anyone
        own = self.home[events.task]
        return np.where(own >= 0, own, anyone)

    def words(self) -> str:
        """What is offered, in a sentence or two."""
        if self.blocks is not None:
            return (
                f"Features are those of who comes, in the place of one of {self.blocks.num_arms} "
                "arms: every decision has a visitor of the log and offers all arms."
            )
        what = "all features" if not (self.fixed | self.given).any() else self._named(
            ~(self.fixed | self.given)
        )  # fmt: skip
        many = f"all {len(self.shown)} different values" if self.shown is not None else (
            f"{ARMS} of the log's rows at random"
        )  # fmt: skip
        parts = [f"Every decision offers {many} of what is shown ({what})."]
        if self.given.any():
            parts.append(f"Who comes is given, from the log's rows ({self._named(self.given)}).")
        if self.fixed.any():
            parts.append(f"A task keeps its own {self._named(self.fixed)}.")
        if not self.given.any():
            parts.append("If features describe who comes and cannot be chosen, name them: context.")
        return " ".join(parts)

    def _named(self, which: Mask) -> str:
        return listed([self.coordinates[j] for j in np.flatnonzero(which)])


def blocks_of(table: Matrix) -> Blocks | None:
    """The blocks of features, if each row has values in one alone and every block is in use.

    The most blocks count: two of four are a block as well.  Rows with one value alone may be
    anything.
    """
    size = table.shape[1]
    if (table != 0).sum(1).max() < 2:
        return None
    for num_arms in (k for k in range(size // 2, 1, -1) if size % k == 0):
        for order in ("arm first", "feature first"):
            blocks = Blocks(num_arms, order)
            used = (blocks.split(table) != 0).any(2)  # (n, arms)
            if (used.sum(1) == 1).all() and used.any(0).all():
                return blocks
    return None


def _never_vary(table: Matrix, tasks: Indices) -> Mask:
    """Features that are the same in all rows, or at least in all rows of each task."""
    same: Mask = np.ptp(table, axis=0) == 0
    order = np.argsort(tasks, kind="stable")
    pairs = tasks[order][1:] == tasks[order][:-1]
    if pairs.sum() >= LEAST_PAIRS:
        steps = np.abs(np.diff(table[order], axis=0))[pairs]
        same |= (steps == 0).all(axis=0)
    return same


def _places(context: Sequence[Name] | None, coordinates: tuple[Name, ...]) -> list[int]:
    if isinstance(context, str):
        raise ValueError(f"context must be a sequence of names, got {context!r}")
    for name in context or ():
        if name not in coordinates:
            known = list(coordinates)
            raise ValueError(f"context must name features, got {name!r:.80}, not in {known!r:.80}")
    return [coordinates.index(name) for name in context or ()]


def _row(numbers: Matrix, size: int) -> Indices:
    """Rows of the table from uniform numbers in (0, 1)."""
    return (numbers * size).astype(np.intp)
