"""What every model is: an assumption about tasks, checked and immutable."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from hierbandits.models.log_totals import LogTotals
from hierbandits.types import Name


class Model(Protocol):
    """What is assumed of tasks and rewards; `beliefs.model_kinds` has a belief for each kind."""

    @property
    def dim(self) -> int:
        """The number of features d, or of arms K."""

    @property
    def num_levels(self) -> int:
        """Two for populations and their tasks."""

    @property
    def is_armed(self) -> bool:
        """Whether features are arm indices."""

    @property
    def widths_known(self) -> bool:
        """Whether it states all its widths, so that a belief in it is Gaussian."""

    @property
    def arms(self) -> tuple[Name, ...] | None:
        """The names of the arms, if it is armed and they have names."""

    @property
    def learned_from(self) -> LogTotals | None:
        """The totals of the log that its mean was learned from, if any."""

    def reordered(self, arms: Sequence[Name]) -> Self:
        """The same model with its arms in this order; they must be the arms that it names."""

    def with_arm(
        self,
        name: Name,
        hyper_mean: float | None,
        hyper_std: float | None,
        task_std: float | None,
    ) -> Self:
        """The same armed model with one more arm, its last; None stands for what is usual."""

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""

    @classmethod
    def from_dict(cls, parts: dict[str, Any]) -> Self:
        """What `to_dict` described, checked again."""
