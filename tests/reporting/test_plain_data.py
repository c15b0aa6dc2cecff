"""Plain data: JSON can hold it, and only what is not finite is lost."""

import json
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pytest

from hierbandits.reporting.plain_data import plain


@dataclass(frozen=True, slots=True)
class Inner:
    mean: object
    study: object = None


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    inner: Inner
    study: object = None


@dataclass
class Described:
    secret: object

    def to_dict(self):
        return {"mean": np.array([1.0, np.nan]), "study": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("nan", "nan"),
        (True, True),
        (2**70, 2**70),
        (0.1, 0.1),
        (float("nan"), None),
        (-float("inf"), None),
        (np.float64("inf"), None),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3),
        (np.bool_(False), False),
        (np.array(2.5), 2.5),
        (np.array([[1.0, np.nan], [np.inf, 2.0]]), [[1.0, None], [None, 2.0]]),
        ((1, (2.0, float("nan"))), [1, [2.0, None]]),
        ({1: (), "b": {"c": np.nan}}, {"1": [], "b": {"c": None}}),
        (MappingProxyType({"a": [np.int64(1)]}), {"a": [1]}),
        (Described(object()), {"mean": [1.0, None], "study": 1}),
        ([Described(object())], [{"mean": [1.0, None], "study": 1}]),
    ],
)
def test_values_become_what_json_holds(value, expected):
    result = plain(value)
    assert result == expected
    assert type(result) is type(expected)
    json.dumps(result, allow_nan=False)


def test_dataclasses_are_their_fields_without_those_to_skip():
    value = Outer("a", Inner(np.ones(2), study=object()), study=object())
    expected = {"name": "a", "inner": {"mean": [1.0, 1.0]}}
    assert plain(value, skip=("study",)) == expected
    assert plain({"study": [value]}, skip={"study"}) == {"study": [expected]}  # a key is no field


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, b"bytes", Outer("a", Inner(object()))])
def test_what_cannot_be_plain_is_refused(value):
    with pytest.raises(TypeError, match="plain data cannot hold"):
        plain([value])
