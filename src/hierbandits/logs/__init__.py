"""Logs of past decisions, read from frames and files of any size."""

from hierbandits.logs.batch import Batch
from hierbandits.logs.columns import Columns
from hierbandits.logs.log import Log
from hierbandits.logs.log_sums import LogSums
from hierbandits.logs.reward_scale import Spread
from hierbandits.logs.row_sample import RowSample

__all__ = ["Batch", "Columns", "Log", "LogSums", "RowSample", "Spread"]
