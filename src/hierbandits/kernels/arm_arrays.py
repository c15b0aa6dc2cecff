"""What kernels know of the arms of a round, as one argument."""

from typing import NewType

from hierbandits.types import Features, Indices

ArmArrays = NewType("ArmArrays", tuple[Features, Indices, Indices, Indices, Indices])
"""The arrays `table, rows, start, offset, base` of `policies.arms.Arms`.

Event e has the arms rows[start[e] + k] of the feature table, and their values begin at offset[e].
An arm's number is its row, counted from base[e].
"""
