import numpy as np

from hierbandits.kernels.dense_gain import gains, inherit, tell


def test_messages_and_draws_go_by_the_same_gain():
    """K = T S S' G, of which `tell` takes S S' T' x and `inherit` leaves T S S' to do."""
    rng = np.random.default_rng(0)
    own, up, factor = rng.standard_normal((3, 4, 4))
    cov = factor @ factor.T
    maps = np.stack([np.zeros((4, 4, 4)), np.array([own, up, own.T, up.T])])
    gain = gains(own[None], cov[None], up[None])[0]
    x, theta = rng.standard_normal((2, 4))
    told, heard = x.copy(), np.empty(4)
    tell(maps, 1, cov @ own.T @ x, told)
    inherit(maps, 1, theta, heard)
    np.testing.assert_allclose(told, gain.T @ x, rtol=1e-12)
    np.testing.assert_allclose(own @ cov @ heard, gain @ theta, rtol=1e-12)
