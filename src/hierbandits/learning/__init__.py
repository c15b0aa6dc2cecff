"""The widths of a hierarchy, learned from the sums of past tasks."""

from hierbandits.learning.fit import Fit, Widths
from hierbandits.learning.fitting import fit_prior

__all__ = ["Fit", "Widths", "fit_prior"]
