"""What is assumed: hierarchies of tasks, immutable and checked once."""

from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths

__all__ = ["GaussianHierarchy", "UnknownWidths"]
