"""Logs of past decisions, read from frames and files of any size."""

from hierbandits.logs.arm_squares import ArmSquares
from hierbandits.logs.batch import Batch
from hierbandits.logs.columns import Columns
from hierbandits.logs.encoder import Encoder
from hierbandits.logs.group_sums import GroupSums
from hierbandits.logs.inspection import Inspection
from hierbandits.logs.inspector import inspect
from hierbandits.logs.limits import LIMITS, Limits
from hierbandits.logs.log import Log
from hierbandits.logs.log_summary import LogSummary
from hierbandits.logs.log_sums import LogSums
from hierbandits.logs.reading import Reading
from hierbandits.logs.reward_scale import RewardScale
from hierbandits.logs.row_sample import RowSample
from hierbandits.logs.rows import Rows
from hierbandits.logs.split import Split
from hierbandits.logs.start import Start
from hierbandits.logs.survey import Survey

__all__ = [
    "LIMITS",
    "ArmSquares",
    "Batch",
    "Columns",
    "Encoder",
    "GroupSums",
    "Inspection",
    "Limits",
    "Log",
    "LogSummary",
    "LogSums",
    "Reading",
    "RewardScale",
    "RowSample",
    "Rows",
    "Split",
    "Start",
    "Survey",
    "inspect",
]
