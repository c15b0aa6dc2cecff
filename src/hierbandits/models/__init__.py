"""What is assumed: hierarchies of tasks, immutable and checked once."""

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.model import Model
from hierbandits.models.unknown_widths import UnknownWidths

__all__ = ["GaussianHierarchy", "LogTotals", "Model", "UnknownWidths"]
