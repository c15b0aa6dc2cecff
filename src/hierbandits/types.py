"""Types of arrays, and of the names that people give to tasks and arms."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.floating[Any]]
Matrix: TypeAlias = NDArray[np.floating[Any]]
Indices: TypeAlias = NDArray[np.integer[Any]]
Features: TypeAlias = NDArray[Any]  # rows of d numbers, or indices of arms
Mask: TypeAlias = NDArray[np.bool_]

Name: TypeAlias = str | int
TaskName: TypeAlias = Name | tuple[Name, ...]  # a tuple is a path: the groups, then the task
