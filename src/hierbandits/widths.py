"""What is assumed when no width is: the form of a hierarchy, and which widths are thinkable."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.arrays import Indices, Vector, count, positive, real_array
from hierbandits.hierarchy import GaussianHierarchy

TASK_RATIO, HYPER_RATIO, UNIT_RATIO = 2.0, 4.0, 4.0
TASK_STEPS = range(-6, 3)
HYPER_STEPS = range(-1, 3)
