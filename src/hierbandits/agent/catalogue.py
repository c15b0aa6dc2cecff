"""The arms that a person offers: by array, by name or by index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierbandits.checks import LARGEST, checked_names, real_array
from hierbandits.policies.arms import Arms, num_axes
from hierbandits.types import Indices, Matrix, Name


@dataclass(slots=True, eq=False)  # not frozen: one may be made for every decision
class Offer:
    """The arms of one event or of a whole round, and what people call them."""

    table: Matrix | Indices  # (K, d), or arm indices (K,) when armed
    names: Sequence[Name]

    def named(self, names: Any) -> "Offer":
        """The arms of this offer with these names, or with these numbers if it has no names."""
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ValueError(f"arms must be several names or indices, got {names!r:.80}")
        known = {name: row for row, name in enumerate(self.names)}
        rows = []
        for name in names:
            name = name.item() if isinstance(name, np.generic) else name
            if name not in known:
                some = ", ".join(repr(n) for n in list(known)[:5])
                raise ValueError(f"arms must name arms of this agent ({some}, ...), got {name!r}")
            rows.append(known[name])
        if not rows or len(set(rows)) < len(rows):
            raise ValueError(f"arms must be distinct, and at least one, got {names!r:.80}")
        return Offer(self.table[rows], [self.names[row] for row in rows])


class Catalogue:
    """Reads what `decide` is given as arms, with the agent's own arms as the default."""

    def __init__(self, arms: Any, dim: int, *, armed: bool, largest: float = LARGEST) -> None:
        self._dim = dim
        self._armed = armed
        self._largest = largest  # the size above which features are refused
        self.own: Offer | None = None
        if armed:
            names = list(range(dim)) if arms is None else checked_names("arms", arms)
            if len(names) != dim:
                raise ValueError(f"arms must name the {dim} arms of the prior, got {len(names)}")
            self.own = Offer(np.arange(dim), names)
        elif arms is not None:
            offer = self._offer(arms)
            self.own = Offer(offer.table.copy(), offer.names)

    def indices_of(self, names: Sequence[Name]) -> Indices:
        """The indices of these arms among the agent's own."""
        if self.own is None or not self._armed:
            raise ValueError(f"arms must not be named where they have features, got {names!r:.80}")
        return self.own.named(names).table.astype(np.intp)

    def offered(
        self, arms: Any, num_events: int, eligible: Any
    ) -> tuple[Arms, Sequence[Sequence[Name]]]:
        """The arms of a round, checked, and their names for each event."""
        if not self._holds_several_sets(arms):
            offer = self._offer(arms)
            sets = Arms.shared(offer.table, num_events)
            return sets.only(eligible), [offer.names] * num_events
        if len(arms) != num_events:
            raise ValueError(f"arms must hold one set for each task, got {len(arms)} sets")
        offers = [self._offer(one) for one in arms]
        tables = [offer.table for offer in offers]
        sets = Arms.of(tables, num_events, self._dim, armed=self._armed, eligible=eligible)
        return sets, [offer.names for offer in offers]

    def _holds_several_sets(self, arms: Any) -> bool:
        """Whether `arms` has one set for each task, not one set for all."""
        if arms is None:
            return False
        if isinstance(arms, np.ndarray):
            return arms.ndim == (2 if self._armed else 3)
        if not isinstance(arms, list | tuple) or not arms:
            return False
        first = arms[0]
        if first is None or isinstance(first, Mapping):
            return True
        if isinstance(first, list | tuple) and first and isinstance(first[0], str):
            return True  # the names of a set; a list of numbers would be an arm's features
        return num_axes(first) == (1 if self._armed else 2)

    def _offer(self, arms: Any) -> Offer:
        """One set of arms in any form that `decide` takes."""
        if arms is None:
            if self.own is None:
                raise ValueError("arms must be given, here or when the agent is made")
            return self.own
        if isinstance(arms, np.ndarray) and arms.ndim == 2 and not self._armed and len(arms) > 0:
            # The usual case, ahead of the slower questions about other forms.
            table = real_array("arms", arms, (len(arms), self._dim), largest=self._largest)
            return Offer(table, range(len(table)))
        if isinstance(arms, Mapping):
            if self._armed:
                raise ValueError("arms must be names or indices when armed, got a mapping")
            return Offer(self._features(list(arms.values())), checked_names("arms", arms))
        if self._armed or _are_names(arms):
            if self.own is None:
                raise ValueError(f"arms are not known by name to this agent, got {arms!r:.80}")
            return self.own.named(arms)
        table = self._features(arms)
        return Offer(table, range(len(table)))

    def _features(self, arms: Any) -> Matrix:
        table = real_array("arms", arms, (None, self._dim), largest=self._largest)
        if len(table) == 0:
            raise ValueError("arms must hold at least one arm, got none")
        return table


def _are_names(arms: Any) -> bool:
    """Whether these are names or numbers of arms, not feature vectors."""
    return isinstance(arms, list | tuple) and all(
        isinstance(name, str | int | np.integer) for name in arms
    )
