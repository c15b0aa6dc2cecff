"""Widths as people state them."""

import numpy as np
import pytest

from hierbandits.models.stated_widths import per_coordinate, variances_of


def test_one_number_is_for_all_coordinates():
    for one in (2, 2.0, np.float32(2.0), np.array(2.0)):
        assert per_coordinate("width", one, 3, "num_arms").tolist() == [2.0, 2.0, 2.0]
    assert per_coordinate("width", [1.0, 2.0], 2, "num_arms").tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"width must have shape \(2,\) to match num_arms"):
        per_coordinate("width", [1.0], 2, "num_arms")


def test_variances_are_squares_of_widths_that_are_not_negative():
    variances = variances_of({"a": 3.0, "b": [0.5, 2.0]}, 2, "num_arms")
    assert {name: var.tolist() for name, var in variances.items()} == {"a": [9, 9], "b": [0.25, 4]}
    with pytest.raises(ValueError, match="b must not be negative, got -1"):
        variances_of({"a": 1.0, "b": [2.0, -1.0]}, 2, "num_arms")
    with pytest.raises(ValueError, match="a must be finite and at most 1e"):
        variances_of({"a": 1e31}, 2, "num_arms")
