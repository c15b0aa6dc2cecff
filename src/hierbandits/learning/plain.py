"""Findings as plain data, for JSON."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.simulation.study import Study


def plain(value: Any, skip: tuple[str, ...] = ()) -> Any:
    """Numbers, text, lists and dictionaries alone; what is not finite is None.

    Fields of dataclasses named in `skip` are left out, and so are studies.
    """
    if isinstance(value, GaussianHierarchy):
        return value.to_dict()
    if is_dataclass(value):
        parts = {f.name: getattr(value, f.name) for f in fields(value) if f.name not in skip}
        return {n: plain(part, skip) for n, part in parts.items() if not isinstance(part, Study)}
    if isinstance(value, Mapping):
        return {str(name): plain(part, skip) for name, part in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), skip)
    if isinstance(value, list | tuple):
        return [plain(part, skip) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
