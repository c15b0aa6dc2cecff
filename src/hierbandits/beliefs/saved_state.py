"""State that is saved to a file, and loaded from it bit for bit."""

from abc import ABC, abstractmethod
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from hierbandits.archive import sound
from hierbandits.file_marks import FileMarks

_VERSION = 2


class SavedState(ABC):
    """What can be written down as plain data and arrays; files and pickles hold nothing else."""

    KIND: ClassVar[str]  # what its files are called

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""

    @property
    def is_looking(self) -> bool:
        """Whether work is spread over calls and not done yet; `state` and `save` end it at once."""
        return False

    @classmethod
    @abstractmethod
    def from_state(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The belief that `state` described, checked."""

    def _twin(self) -> Self:
        """Another object of the same parts, which knows no file."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.__dict__.pop("_belief_files", None)
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies have what a file has, and are checked as files are."""
        return type(self).from_state, self.state()

    @cached_property
    def _belief_files(self) -> FileMarks:
        return FileMarks()

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the belief to one file: `load` resumes bit for bit.

        A file of this belief that another has saved since is refused unless `overwrite` is true.
        """
        meta, arrays = self.state()
        self._belief_files.write(path, self.KIND, _VERSION, meta, arrays, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The belief that `save` wrote; a damaged or foreign file is refused."""
        marks = FileMarks()
        meta, arrays = marks.read(path, cls.KIND, _VERSION)
        with sound(path, cls.KIND):
            belief = cls.from_state(meta, arrays)
        belief._belief_files = marks
        return belief
