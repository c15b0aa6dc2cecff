"""Spans of time of one length, few enough to draw: when there are too many, they double."""

from collections.abc import Callable
from math import floor
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Buckets(Generic[T]):
    """Sums by where a number lies: bucket i has those from i * width to (i + 1) * width.

    `merge` adds a sum into another.  There are never more than `most` buckets, so that a new
    number costs O(1) but for the rare doubling.
    """

    __slots__ = ("_make", "_merge", "most", "sums", "width")

    def __init__(
        self, width: float, most: int, make: Callable[[], T], merge: Callable[[T, T], None]
    ) -> None:
        self.width, self.most = width, most
        self._make, self._merge = make, merge
        self.sums: dict[int, T] = {}

    def at(self, value: float) -> T:
        """The sum where a number lies."""
        found = self.sums.get(floor(value / self.width))
        if found is not None:
            return found
        while self._is_crowded(value):
            self._double()
        return self.sums.setdefault(floor(value / self.width), self._make())

    def _is_crowded(self, value: float) -> bool:
        place = floor(value / self.width)
        first, last = min(self.sums, default=place), max(self.sums, default=place)
        return max(last, place) - min(first, place) >= self.most

    def _double(self) -> None:
        old, self.sums = self.sums, {}
        self.width *= 2
        for place, one in old.items():
            kept = self.sums.get(place // 2)
            if kept is None:
                self.sums[place // 2] = one
            else:
                self._merge(kept, one)

    def rows(self) -> list[tuple[float, T]]:
        """Where each bucket begins, and its sum, in order."""
        return [(place * self.width, self.sums[place]) for place in sorted(self.sums)]

    def state(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {"width": self.width, "sums": [[place, one] for place, one in self.sums.items()]}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` gave."""
        self.width = float(state["width"])
        self.sums = {int(place): one for place, one in state["sums"]}
