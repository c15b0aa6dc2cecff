"""The paper's theorems as functions: the regret that they promise, and every constant in it.

`constants="paper"` gives the constants as printed.  `constants="repaired"`, the default, mends
those that fail for anisotropic covariances, adds what the paper left out, and is tighter elsewhere;
see `Repaired`.
"""

from hierbandits.bounds.constants import CONSTANTS, Paper, Repaired
from hierbandits.bounds.lemmas import bayes_regret, decomposition_bound, ratio_bound, variance_bound
from hierbandits.bounds.regret_bound import RegretBound
from hierbandits.bounds.side_by_side import side_by_side
from hierbandits.bounds.spectrum import Spectrum
from hierbandits.bounds.theorems import concurrent, independent, oracle, sequential, tasks_to_win

__all__ = [
    "CONSTANTS",
    "Paper",
    "RegretBound",
    "Repaired",
    "Spectrum",
    "bayes_regret",
    "concurrent",
    "decomposition_bound",
    "independent",
    "oracle",
    "ratio_bound",
    "sequential",
    "side_by_side",
    "tasks_to_win",
    "variance_bound",
]
