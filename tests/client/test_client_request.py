"""Requests as data: JSON and parts of paths."""

import json
from urllib.parse import unquote

import numpy as np
import pytest

from hierbandits.client.client_request import json_body, json_part, path_part


@pytest.mark.parametrize("name", ["a/b", "ü", "%2F", "a?b#c", '"', "a b", "...", "~x"])
def test_a_part_of_a_path_is_one_part(name):
    part = path_part("name", name)
    assert unquote(part) == name
    assert not set(part) & set("/?# ")
    assert json.loads(unquote(json_part("name", name))) == name


def test_numbers_and_paths_of_names():
    assert json_part("task", 5) == "5"
    assert json.loads(unquote(json_part("task", ("a", 5)))) == ["a", 5]


def test_arrays_are_lists():
    data = {"x": np.array([1.0, 2.5]), "n": np.int64(3), "f": np.float32(0.5)}
    assert json.loads(json_body("data", data)) == {"x": [1.0, 2.5], "n": 3, "f": 0.5}


@pytest.mark.parametrize("value", [float("nan"), np.array([np.inf]), {1, 2}, b"x", object()])
def test_what_is_no_plain_data_is_named(value):
    with pytest.raises(ValueError, match="settings must be plain data with finite numbers"):
        json_body("settings", {"value": value})
