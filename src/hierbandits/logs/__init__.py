"""Logs of past decisions, read from frames and files of any size."""

from hierbandits.logs.batch import Batch, Columns, LogSums
from hierbandits.logs.log import Log
from hierbandits.logs.sample import RowSample
from hierbandits.logs.spread import Spread

__all__ = ["Batch", "Columns", "Log", "LogSums", "RowSample", "Spread"]
