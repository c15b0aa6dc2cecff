"""Gaussians as beliefs report them."""

import numpy as np

from hierbandits import Gaussian, Prediction


def test_standard_deviations_and_bounds():
    gaussian = Gaussian(np.zeros(2), np.array([[4.0, 1.0], [1.0, 9.0]]))
    np.testing.assert_array_equal(gaussian.std, [2.0, 3.0])
    prediction = Prediction(np.array([1.0, -2.0]), np.array([3.0, 9.0]), np.array([1.0, 16.0]))
    np.testing.assert_array_equal(prediction.std, [2.0, 5.0])
    np.testing.assert_array_equal(prediction.bound(2.0), [5.0, 8.0])
    np.testing.assert_array_equal(prediction.bound(-1.0), [-1.0, -7.0])
