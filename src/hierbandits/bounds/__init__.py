"""The paper's theorems as functions: what they promise of HierTS, and every constant in it.

`constants="paper"` is as printed.  `constants="repaired"`, the default, mends what fails for
anisotropic covariances, adds what was left out, and is tighter elsewhere; see `Repaired`.
"""

from hierbandits.bounds.constants import CONSTANTS, Paper, Repaired
from hierbandits.bounds.lemmas import bayes_regret, decomposition_bound, ratio_bound, variance_bound
from hierbandits.bounds.regret_bound import Bound
from hierbandits.bounds.side_by_side import side_by_side
from hierbandits.bounds.spectrum import Widths
from hierbandits.bounds.theorems import concurrent, independent, oracle, sequential, tasks_to_win

__all__ = [
    "CONSTANTS",
    "Bound",
    "Paper",
    "Repaired",
    "Widths",
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
