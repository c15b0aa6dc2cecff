"""Counts the histories of shared policies in a process of its own, as `reader_process` does.

python -m hierbandits.service.shared_reader_process FOLDER

The environment names the store.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any

from hierbandits.service.data_place import DataPlace
from hierbandits.service.reader_process import answer_all
from hierbandits.service.shared_history import SharedHistory
from hierbandits.service.shared_links import SharedLinks

MOST_SECONDS = 2.0
"""How long one look reads; the next one goes on."""
MOST_HISTORIES = 8
"""Policies whose histories are remembered, those that were asked for last."""
MANY, SHARE = 20_000, 0.1
"""A look that read so many rows is told again, so that looks take this share of the time."""


class SharedReader:
    """Answers questions about the policies of a store that workers share."""

    def __init__(self, place: DataPlace, clock: Callable[[], float] = monotonic) -> None:
        assert place.store is not None
        self._links, self._clock = SharedLinks(place.store), clock
        self._histories: dict[int, SharedHistory] = {}
        self._told: dict[int, tuple[float, Any]] = {}

    def close(self) -> None:
        """Read no more."""
        self._links.close()

    def answer(self, question: dict[str, Any]) -> Any:
        """What is asked: the "history" of a policy."""
        policy = question["policy"]
        until, answer = self._told.get(policy, (0.0, None))
        begin = self._clock()
        if begin < until:
            return answer
        history = self._histories.pop(policy, None) or SharedHistory(policy, self._links)
        answer = history.look(MOST_SECONDS)
        self._histories[policy] = history  # half of a look must not go on
        while len(self._histories) > MOST_HISTORIES:
            gone = next(iter(self._histories))
            del self._histories[gone]
            self._told.pop(gone, None)
        end = self._clock()
        if answer["counted_to"] is None and history.num_read > MANY:
            self._told[policy] = end + (end - begin) / SHARE, answer
        return answer


if __name__ == "__main__":
    answer_all(SharedReader)
