"""An event under way, which an interrupt leaves wholly done or not done at all."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

Stage: TypeAlias = Callable[[bool], None]
"""A part of an event; it is told whether it was begun before, and then does what is left of it."""


def nothing() -> None:
    """Undo nothing."""


class Step:
    """The stages of an event, and how to undo what came before the first of them.

    Once the event is `written`, it is bound to happen.  If it is interrupted, at any point and any
    number of times, `finish` does what is left; or, if nothing was written, undoes what was done.
    """

    __slots__ = ("_at", "stages", "undo", "written")

    def __init__(self, stages: Sequence[Stage] = (), undo: Callable[[], None] = nothing) -> None:
        self.stages, self.undo = stages, undo
        self.written: list[object] = []  # what the journal answered: something, once it has it
        self._at = 0

    def run(self, *, again: bool = False) -> None:
        """Run the stages that are left; `again` if the first of them may have been begun."""
        while self._at < len(self.stages):
            self.stages[self._at](again)
            self._at += 1
            again = False

    def finish(self) -> None:
        """Do all of the event after an interrupt, or nothing of it."""
        if self.written:
            self.run(again=True)
        else:
            self.undo()
