"""Plain data: what JSON can hold."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any, skip: Collection[str] = ()) -> Any:
    """Turn a value into numbers, text, lists and dictionaries; a number that is not finite is None.

    An object with a method `to_dict` is described by it.  Another dataclass is described by its
    fields, without those whose names are in `skip`.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist(), skip)
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): plain(part, skip) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, skip) for part in value]
    if hasattr(value, "to_dict"):
        return plain(value.to_dict(), skip)
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name not in skip]
        return {name: plain(getattr(value, name), skip) for name in names}
    raise TypeError(f"plain data cannot hold {value!r:.80}, a {type(value).__name__}")
