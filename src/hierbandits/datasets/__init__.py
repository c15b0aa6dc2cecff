"""Real data in the box."""

from hierbandits.datasets.warfarin import Warfarin, warfarin

__all__ = ["Warfarin", "warfarin"]
