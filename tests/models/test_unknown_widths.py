"""The lattice of widths and its prior."""

import numpy as np

from hierbandits.models.unknown_widths import UnknownWidths

D, TASKS = 3, 5


def test_the_prior_falls_with_the_task_width_and_beyond_the_first_widths():
    widths = UnknownWidths.of(D, armed=True)
    first = {point: widths.log_prior(point) for point in widths.first_points()}
    assert len(first) == 18
    for (i, _), log in first.items():  # task_std^(-1/3)
        np.testing.assert_allclose(log, -np.log(2.0) * i / 3)
    beyond = [(-11, 0), (1, 1), (-1, 3), (-4, -1)]
    steps = [2, 2, 2, 1]
    for (i, j), far in zip(beyond, steps, strict=True):
        expected = -np.log(2.0) * i / 3 - far * np.log(4.0)
        np.testing.assert_allclose(widths.log_prior((i, j)), expected)
    assert set(widths.neighbours((0, 0))) == {(-1, 0), (1, 0), (0, -1), (0, 1)}
    assert widths.neighbours((14, 8)) == [(13, 8), (14, 7)]  # the ends of arithmetic
    again = UnknownWidths.from_dict(widths.to_dict())
    assert (again.dim, again.is_armed, again.noise_std) == (D, True, None)
    assert repr(widths) == "UnknownWidths(3-armed, noise_std=unknown)"
