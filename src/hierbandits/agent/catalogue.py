"""The arms that a person offers: by array, by name or by index."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hierbandits.checks import LARGEST, checked_names, plain_name, real_array
from hierbandits.logs.encoder import Encoder
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.policies.arms import Arms, num_axes
from hierbandits.types import Features, Indices, Matrix, Name


@dataclass(slots=True, eq=False)  # not frozen: one may be made for every decision
class Offer:
    """The arms of one event or of a whole round, and what people call them."""

    table: Matrix | Indices  # (K, d), or arm indices (K,) when armed
    names: tuple[Name, ...]

    def named(self, names: Any) -> "Offer":
        """The arms of this offer with these names or indices, each at most once."""
        rows = _places(self.names, names)
        if not rows or len(set(rows)) < len(rows):
            raise ValueError(f"arms must be distinct, and at least one, got {names!r:.80}")
        return Offer(self.table[rows], tuple(self.names[row] for row in rows))


class Catalogue:
    """Reads what `decide` is given as arms, with the agent's own arms as the default.

    When armed, arms can be added and retired.  A retired arm keeps its index and its name.  With an
    encoder, arms are known by name, and have their features by the context of a decision.
    """

    def __init__(
        self,
        arms: Any,
        dim: int,
        *,
        armed: bool,
        largest: float = LARGEST,
        limits: Limits = LIMITS,
        encoder: Encoder | None = None,
    ) -> None:
        self._dim, self.encoder = dim, encoder
        self._armed = armed
        self._largest = largest  # the size above which features are refused
        self._limits = limits
        self.own: Offer | None = None
        self.names: tuple[Name, ...] = ()  # of all arms, by index, when armed
        self.retired: frozenset[Name] = frozenset()
        if armed:
            names = list(range(dim)) if arms is None else checked_names("arms", arms)
            if len(names) != dim:
                raise ValueError(f"arms must name the {dim} arms of the prior, got {len(names)}")
            limits.check_names("arms", names)
            self._offer_all(tuple(names), frozenset())
        elif encoder is not None:
            if arms is not None:
                raise ValueError(f"arms must not be given with an encoder, got {arms!r:.80}")
        elif arms is not None:
            offer = self._offer(arms)
            self.own = Offer(offer.table.copy(), offer.names)

    @property
    def all_names(self) -> tuple[Name, ...] | None:
        """The names of all own arms, the retired ones too; None if there are no own arms."""
        if self.encoder is not None:
            return self.encoder.arms
        return self.names or (None if self.own is None else self.own.names)

    def _offer_all(self, names: tuple[Name, ...], retired: frozenset[Name]) -> None:
        """From now on the arms have these names, and all but the retired ones are offered."""
        rows = [row for row, name in enumerate(names) if name not in retired]
        own = Offer(np.array(rows, np.intp), tuple(names[row] for row in rows))
        self._dim, self.names, self.retired, self.own = len(names), names, retired, own

    def new_name(self, name: Name) -> Name:
        """The name of an arm that is to be added; one that cannot be is refused."""
        plain = self._plain_name(name)
        self._limits.check_names("name", [plain])
        if plain in self.names:
            raise ValueError(f"name must be of a new arm, got {name!r}, which is one already")
        return plain

    def add(self, name: Name) -> None:
        """One more arm, with the next index; one that is there already is not added again."""
        if name not in self.names:
            self._offer_all((*self.names, name), self.retired)

    def offered_name(self, name: Name) -> Name:
        """The name of an arm that is to be retired; one is refused unless another is left."""
        self._plain_name(name)
        try:
            (plain,) = self._named([name]).names
        except ValueError as error:
            raise ValueError(f"name must be of an arm that is offered: {error}") from None
        if len(self.names) - len(self.retired) == 1:
            raise ValueError(f"name must leave an arm that is not retired, got the last, {name!r}")
        return plain

    def _plain_name(self, name: Any) -> Name:
        """The name of one arm of an armed agent, checked."""
        if not self._armed:
            raise ValueError(f"name must not be given where arms have features, got {name!r:.80}")
        plain = plain_name(name)
        if plain is None:
            raise ValueError(f"name must be a string or an integer, got {name!r:.80}")
        return plain

    def retire(self, *names: Name) -> None:
        """Offer arms no more; one at least must be left."""
        retired = self.retired.union(names)
        if not retired < set(self.names):
            raise ValueError(f"retired must be some of the arms, got {names!r:.80}")
        self._offer_all(self.names, retired)

    def _check_armed(self, arms: Any) -> None:
        if not self._armed:
            raise ValueError(f"arms must not be named where they have features, got {arms!r:.80}")

    def indices_of(self, names: Any) -> Indices:
        """The indices of these arms among all that the agent ever had, each at most once."""
        self._check_armed(names)
        return Offer(np.arange(self._dim), self.names).named(names).table.astype(np.intp)

    def places_of(self, arms: Any, name: str = "arms") -> Indices:
        """The index of each of these arms, given by name, or by index if no name is a number."""
        self._check_armed(arms)
        return np.array(_places(self.names, arms, name), np.intp)

    def encoded(self, arms: Any, contexts: Any, num_events: int) -> "list[Offer]":
        """What is offered to so many who come: one context for all, or a list with one for each.

        `arms` are the names of some arms, for all or for each, or None for all arms.
        """
        encoder = self.encoder
        if encoder is None:
            raise ValueError(
                "context must not be given to an agent without an encoder, which a log with arms "
                f"and features teaches, got {contexts!r:.80}"
            )
        if isinstance(contexts, Mapping):
            contexts = [contexts] * num_events
        if not isinstance(contexts, list | tuple) or len(contexts) != num_events:
            raise ValueError(
                f"context must be a mapping, or a list of {num_events} to match tasks, got "
                f"{contexts!r:.80}"
            )
        cells = np.array([encoder.cells_of(one) for one in contexts])
        return self.offers(cells.reshape(num_events, -1), arms)

    def offers(self, cells: Matrix, arms: Any) -> "list[Offer]":
        """What is offered in these contexts, as the encoder's cells: see `encoded`."""
        assert self.encoder is not None
        names = self.encoder.arms
        each = [arms] * len(cells)
        if isinstance(arms, list | tuple) and not _are_names(arms):
            each = list(arms)
        if len(each) != len(cells):
            raise ValueError(f"arms must hold one set for each task, got {len(each)} sets")
        offers = [Offer(table, names) for table in self.encoder._raw_tables(cells)]
        return [
            offer if some is None else offer.named(some)
            for offer, some in zip(offers, each, strict=True)
        ]

    def offered(
        self, arms: Any, num_events: int, eligible: Any
    ) -> tuple[Arms, list[tuple[Name, ...]], list[tuple[Name, ...]]]:
        """The arms of a round, checked; for each event their names, and those that it may play."""
        if not self._holds_several_sets(arms):
            offer = self._offer(arms)
            sets = Arms._raw_shared(offer.table, num_events).only(eligible)
            names = [offer.names] * num_events
        else:
            if len(arms) != num_events:
                raise ValueError(f"arms must hold one set for each task, got {len(arms)} sets")
            offers = [self._offer(one) for one in arms]
            tables = [offer.table for offer in offers]
            sets = Arms.of(tables, num_events, self._dim, armed=self._armed, eligible=eligible)
            names = [offer.names for offer in offers]
        if eligible is None:
            return sets, names, names
        playable = []
        for event, known in enumerate(names):
            numbers = sets.rows_of(event) - sets.base[event]
            playable.append(tuple(known[number] for number in numbers.tolist()))
        return sets, names, playable

    def usual_offer(self, arms: Any) -> tuple[Features, tuple[Name, ...]] | None:
        """The table and the names of one event's arms, if they are in one of the usual forms.

        Whether all features are numbers, and not too large, is not checked here.
        """
        own = self.own
        if type(arms) is Offer:
            return arms.table, arms.names
        if arms is None:
            return None if own is None else (own.table, own.names)
        if type(arms) is not np.ndarray or arms.dtype is not _FLOAT or self._armed:
            return None
        shape = arms.shape
        if len(shape) != 2 or shape[1] != self._dim or not arms.flags.carray:
            return None
        return (arms, _numbers(shape[0])) if shape[0] else None

    def _holds_several_sets(self, arms: Any) -> bool:
        """Whether `arms` has one set for each task, not one set for all."""
        if arms is None:
            return False
        if isinstance(arms, np.ndarray):
            return arms.ndim == (2 if self._armed else 3)
        if not isinstance(arms, list | tuple) or not arms:
            return False
        first = arms[0]
        if first is None or isinstance(first, Mapping | Offer):
            return True
        if isinstance(first, list | tuple) and first and isinstance(first[0], str):
            return True  # the names of a set; a list of numbers would be an arm's features
        return num_axes(first) == (1 if self._armed else 2)

    def _offer(self, arms: Any) -> Offer:
        """One set of arms in any form that `decide` takes."""
        if isinstance(arms, Offer):
            return Offer(self._features(arms.table), arms.names)
        if self.encoder is not None and (arms is None or _are_names(arms)):
            raise ValueError(f"context must be given, with {self.encoder.context!r:.200}")
        if arms is None:
            if self.own is None:
                raise ValueError("arms must be given, here or when the agent is made")
            return self.own
        if isinstance(arms, np.ndarray) and arms.ndim == 2 and not self._armed and len(arms) > 0:
            # The usual case, ahead of the slower questions about other forms.
            table = real_array("arms", arms, (len(arms), self._dim), largest=self._largest)
            return Offer(table, _numbers(len(table)))
        if isinstance(arms, Mapping):
            if self._armed:
                raise ValueError("arms must be names or indices when armed, got a mapping")
            return Offer(self._features(list(arms.values())), tuple(checked_names("arms", arms)))
        if self._armed or _are_names(arms):
            if self.own is None:
                raise ValueError(f"arms are not known by name to this agent, got {arms!r:.80}")
            return self._named(arms)
        table = self._features(arms)
        return Offer(table, _numbers(len(table)))

    def _named(self, arms: Any) -> Offer:
        """The agent's own arms of these names; retired ones are refused."""
        if not self._armed:
            assert self.own is not None
            return self.own.named(arms)
        offer = Offer(np.arange(self._dim), self.names).named(arms)
        for name in offer.names if self.retired else ():
            if name in self.retired:
                raise ValueError(f"arms must not be retired, got {name!r}")
        return offer

    def _features(self, arms: Any) -> Matrix:
        table = real_array("arms", arms, (None, self._dim), largest=self._largest)
        if len(table) == 0:
            raise ValueError("arms must hold at least one arm, got none")
        return table


_FLOAT = np.dtype(np.float64)


def _places(names: tuple[Name, ...], arms: Any, what: str = "arms") -> list[int]:
    """The place of each of these arms among the names.

    An integer is a name where any arm has an integer for its name, and elsewhere a place.
    """
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise ValueError(f"{what} must be several names or indices, got {arms!r:.80}")
    known: dict[Name, int] = {name: row for row, name in enumerate(names)}
    if not any(isinstance(name, int) for name in names):
        known |= {row: row for row in range(len(names))}
    places = []
    for arm in arms:
        plain = plain_name(arm)
        if plain is None or plain not in known:
            some = ", ".join(repr(name) for name in names[:5])
            raise ValueError(f"{what} must be arms of this agent ({some}, ...), got {arm!r:.80}")
        places.append(known[plain])
    return places


@lru_cache(maxsize=64)
def _numbers(size: int) -> tuple[Name, ...]:
    """The names of arms that have none."""
    return tuple(range(size))


def _are_names(arms: Any) -> bool:
    """Whether these are names or numbers of arms, not feature vectors."""
    return isinstance(arms, list | tuple) and all(
        isinstance(name, str | int | np.integer) for name in arms
    )
