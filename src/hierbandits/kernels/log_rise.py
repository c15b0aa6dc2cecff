"""log(a (a + 1) ... (a + n - 1)): what n more successes are to a Beta or a Gamma."""

from math import lgamma, log, log1p

from hierbandits.compiler import compiled, inlined

_LARGE = 30.0  # from here on Stirling's series has all digits
_FEW = 8


@inlined
def _remainder(z: float) -> float:
    """What log Gamma(z) has besides (z - 1/2) log z - z + log(2 pi) / 2, for large z."""
    w = 1.0 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680)))) / z


@compiled
def log_rise(a: float, n: float) -> float:
    """log Gamma(a + n) - log Gamma(a) of a > 0 and n >= 0.

    Where a is large the two would leave no digits to their difference.
    """
    if n == 1.0:
        return log(a)
    if a >= _LARGE:
        whole = (a - 0.5) * log1p(n / a) + n * (log(a + n) - 1.0)
        return whole + (_remainder(a + n) - _remainder(a))
    if n > _FEW or n != int(n):
        return lgamma(a + n) - lgamma(a)
    product = 1.0
    for j in range(int(n)):
        product *= a + j
    return log(product)
