"""Data in the box: real counts of doses, and a made-up log of stores with the usual mess."""

from hierbandits.datasets.sample_log import sample_log
from hierbandits.datasets.warfarin import Warfarin, warfarin

__all__ = ["Warfarin", "sample_log", "warfarin"]
