"""What an agent starts from: a prior, and what a log said of tasks that are known by name."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from hierbandits.archive import sound
from hierbandits.beliefs.model_kinds import (
    belief_in,
    kind_of,
    model_from_dict,
    model_to_dict,
)
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import checked_names, plain_name, reduce_frozen, restored
from hierbandits.file_marks import FileMarks
from hierbandits.logs.encoder import Encoder
from hierbandits.models.model import Model
from hierbandits.types import Name, TaskName

_KIND, _VERSION = "start", 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Start:
    """A prior from before a log, the log's sums, and the names of its tasks and arms.

    `hb.Agent(start)` has learned the log: it knows the log's tasks, and new tasks share what they
    teach.  `sums` has a row for each of `tasks`; None stands for no tasks at all, where the prior
    alone holds what a log taught.  `arms` are the names of the columns of armed sums: unless
    given, those that the prior names.  `encoder` makes the prior's features of contexts and arms:
    the agent's decisions are then given contexts.
    """

    prior: Model
    sums: TaskSums | None = None  # kept as a copy that cannot be changed, never None
    tasks: Sequence[TaskName] = ()  # kept as a tuple, as are the arms
    arms: Sequence[Name] | None = None
    encoder: Encoder | None = None
    _start_files: FileMarks = field(default_factory=FileMarks, init=False)

    def __post_init__(self) -> None:
        prior, sums = self.prior, self.sums
        record = kind_of(prior).record  # or an error
        if prior.num_levels < 2:
            raise ValueError(f"prior must have a level of tasks below its root, got {prior}")
        tasks = _checked_tasks(self.tasks, prior.num_levels - 1)
        if sums is None:
            sums = record.zeros(0, prior.dim, armed=prior.is_armed)
        belief_in(prior).check_past(len(tasks), sums)
        if self.encoder is not None:
            _check_encoder(self.encoder, prior)
        object.__setattr__(self, "tasks", tasks)
        object.__setattr__(self, "arms", _checked_arms(self.arms, prior))
        object.__setattr__(self, "sums", _frozen(sums))

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle or a copy cannot be changed either."""
        return _copied, reduce_frozen(self)[1]

    def record(self) -> TaskSums:
        """The log's sums as a copy that a belief may learn."""
        assert self.sums is not None
        return self.sums.rows(np.arange(len(self.tasks)))

    @property
    def num_rows(self) -> int:
        """The number of rows of the log."""
        return int(self.record().n.sum())

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the start to one file.

        A file of this start that another has saved since is refused unless `overwrite` is true.
        """
        meta = {
            "prior": model_to_dict(self.prior),
            "tasks": [list(task) if isinstance(task, tuple) else task for task in self.tasks],
            "arms": None if self.arms is None else list(self.arms),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
        }
        sums = self.record().state()
        self._start_files.write(path, _KIND, _VERSION, meta, sums, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Start":
        """The start that `save` wrote; a damaged or foreign file is refused."""
        marks = FileMarks()
        meta, arrays = marks.read(path, _KIND, _VERSION)
        with sound(path, _KIND):
            prior = model_from_dict(meta["prior"])
            record = kind_of(prior).record
            sums = record.from_state(arrays, prior.dim, armed=prior.is_armed)
            tasks = [tuple(task) if isinstance(task, list) else task for task in meta["tasks"]]
            encoder = meta.get("encoder")  # files of earlier builds have none
            encoder = None if encoder is None else Encoder.from_dict(encoder)
            start = cls(prior, sums, tasks, meta["arms"], encoder)
        object.__setattr__(start, "_start_files", marks)
        return start

    def __repr__(self) -> str:
        kind = "known" if self.prior.widths_known else "unknown"
        form = f"{self.prior.dim} {'arms' if self.prior.is_armed else 'features'}"
        return (
            f"<Start: {form}, widths {kind}, {self.num_rows:,} rows of {len(self.tasks):,} tasks>"
        )


def _copied(kind: type, parts: tuple[Any, ...]) -> Start:
    start: Start = restored(kind, parts)
    object.__setattr__(start, "sums", _frozen(start.record()))
    return start


def _frozen(sums: TaskSums) -> TaskSums:
    copy = sums.rows(np.arange(len(sums.n)))
    for values in copy.state().values():
        values.flags.writeable = False
    return copy


def _checked_tasks(tasks: Any, length: int) -> tuple[TaskName, ...]:
    """Names of tasks, or paths of so many names, all different."""
    if length == 1:
        return tuple(checked_names("tasks", tasks))
    for task in tasks:
        if not isinstance(task, tuple) or len(task) != length or None in map(plain_name, task):
            raise ValueError(f"tasks must be tuples of {length} names, got {task!r:.80}")
    if len(set(tasks)) < len(tasks):
        raise ValueError(f"tasks must be different, got {list(tasks)!r:.80}")
    return tuple(tasks)


def _check_encoder(encoder: Any, prior: Model) -> None:
    if not isinstance(encoder, Encoder):
        raise ValueError(f"encoder must be an Encoder, got {encoder!r:.80}")
    if prior.is_armed or prior.dim != encoder.dim:
        raise ValueError(f"encoder must make the prior's features, {prior}, got {encoder}")


def _checked_arms(arms: Any, prior: Model) -> tuple[Name, ...] | None:
    """The names of the prior's arms; None if they have none, or if it has features."""
    if arms is None:
        return prior.arms
    names = tuple(checked_names("arms", arms))
    if not prior.is_armed or len(names) != prior.dim:
        form = f"{prior.dim} names" if prior.is_armed else "left out where there are features"
        raise ValueError(f"arms must be {form}, got {arms!r:.80}")
    if prior.arms is not None and prior.arms != names:
        raise ValueError(f"arms must be the prior's own, {prior.arms!r:.80}, got {arms!r:.80}")
    return names
