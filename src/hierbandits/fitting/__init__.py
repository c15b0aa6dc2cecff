"""The widths of a hierarchy, learned from the sums of past tasks."""

from hierbandits.fitting.fit import Fit, Widths
from hierbandits.fitting.maximum_evidence import fit_prior

__all__ = ["Fit", "Widths", "fit_prior"]
