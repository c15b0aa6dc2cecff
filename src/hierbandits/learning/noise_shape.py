"""How far the noise of means is from Gaussian, and what normal numbers they stand for."""

from dataclasses import dataclass

import numpy as np

from hierbandits.types import Matrix, Vector

_STEPS = 60  # halvings: as many as a number has digits
_NEAR = 0.05  # normal numbers nearer to zero than this are interpolated
_LEAST = 1e-9  # excess kurtosis below this is none
_MOST = 100.0  # and above this changes little
_WIDE = 1e3


@dataclass(frozen=True, slots=True, eq=False)
class NoiseShape:
    """The skewness and the excess kurtosis of the mean noise of each task's coordinates.

    Noise is taken for the difference of two gamma numbers of one scale b, less its mean: Gaussian,
    exponential and Laplace noise are such.  Its cumulants are

        k2 = (p + q) b^2 = 1,   skewness = 2 (p - q) b^3,   excess = 6 (p + q) b^4

    so that the mean of n such numbers is one more of them, of skewness / sqrt(n) and excess / n.
    """

    skewness: Matrix  # (tasks, d)
    excess: Matrix  # (tasks, d), at least 0 and 1.5 times the squared skewness

    @classmethod
    def of_means(cls, skewness: Vector, excess: Vector, rows: Matrix) -> "NoiseShape":
        """Of means over so many rows, (tasks, d), of noise of this shape, (d,) or (1,)."""
        n = np.maximum(rows, 1.0)
        most = np.sqrt(_MOST / 1.5)
        skewness = np.clip(skewness, -most, most)
        least = np.maximum(np.maximum(excess, 1.5 * skewness**2), 0.0)
        return cls(skewness / np.sqrt(n), np.minimum(least, _MOST) / n)

    def normal_numbers(self, z: Matrix, share: Matrix) -> Matrix:
        """Normal numbers that are as rare as z, (tasks, d), and never further from zero.

        z has variance 1, of which this share is noise and the rest Gaussian.  They are those of
        the saddlepoint approximation of Barndorff-Nielsen (1986): with K the cumulant function of
        z and K'(t) = z,

            r = sign(t) sqrt(2 (t z - K(t))),   v = t sqrt(K''(t)),   r + log(v / r) / r
        """
        odd = (self.excess * share**2 > _LEAST) & (share > 0)
        scores = z.copy()
        if odd.any():
            scores[odd] = _scores(z[odd], share[odd], self.skewness[odd], self.excess[odd])
        return np.clip(scores, -np.abs(z), np.abs(z))


def _scores(z: Vector, share: Vector, skewness: Vector, excess: Vector) -> Vector:
    scale = np.sqrt(excess / 6)
    both, apart = 6 / excess, skewness / (2 * scale**3)
    up, down = (_shape(both + sign * apart, both) for sign in (1, -1))
    parts = up, down, scale * np.sqrt(share), 1 - share
    low, high = (_sided(np.where(np.abs(z) < _NEAR, end, z), *parts) for end in (-_NEAR, _NEAR))
    # Where r is 0, on a line between the two sides.
    scores: Vector = low + (high - low) * np.clip(z / _NEAR + 1, 0, 2) / 2
    return scores


def _shape(part: Vector, both: Vector) -> Vector:
    """Of the gamma number on one side; 0 if there is none but for rounding."""
    return np.where(part > _LEAST * both, part / 2, 0.0)


def _sided(z: Vector, up: Vector, down: Vector, scale: Vector, rest: Vector) -> Vector:
    """For z that are not zero; `rest` is the variance of the Gaussian part."""
    sign, z = np.sign(z), np.abs(z)
    up, down = np.where(sign > 0, up, down), np.where(sign > 0, down, up)
    # x = scale t is below 1 where there is a gamma number on the side of z.
    low, high = np.zeros(z.size), np.where(up > 0, 1.0, _WIDE)
    for _ in range(_STEPS):
        x = (low + high) / 2
        beyond = 1 - np.where(up > 0, x, 0.0)
        slope = scale * x * (up / beyond + down / (1 + x)) + rest * x / scale
        low, high = np.where(slope < z, x, low), np.where(slope < z, high, x)
    t = x / scale
    value = -up * (np.log(beyond) + x) - down * (np.log1p(x) - x) + rest * t**2 / 2
    curve = scale**2 * (up / beyond**2 + down / (1 + x) ** 2) + rest
    r = np.sqrt(np.maximum(2 * (t * z - value), _LEAST))
    scores: Vector = sign * (r + np.log(t * np.sqrt(curve) / r) / r)
    return scores
