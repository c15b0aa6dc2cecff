"""What replaces a reward that was observed earlier by a corrected one."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.kept_rows import KeptRows
from hierbandits.beliefs.nodes import Nodes
from hierbandits.types import Indices


class Revisable:
    """A belief some of whose rewards turn out to have been others."""

    _nodes: Nodes
    _evidence: Evidence

    @abstractmethod
    def revise(self, task: int, features: Any, old_reward: float, new_reward: float) -> None:
        """Replace a reward that was observed earlier by a corrected one."""

    def _raw_check_revisions(self, events: Sequence[tuple[int, Any, float, float]]) -> None:
        """Raise an error unless `revise` can take these events, one after the other.

        They are of a task, features, the old reward and the new one, which is checked.  Events of
        which too few digits would be left are not refused: see `_raw_can_revise`.
        """

    def _raw_can_revise(self, *event: Any) -> bool:
        """Whether `revise` of (task, features, old_reward, new_reward) leaves enough digits."""
        return True

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        return KeptRows.of(self._nodes, self._evidence, nodes).put_back
