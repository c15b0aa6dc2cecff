"""Logs of past decisions, read from frames and files of any size."""

from hierbandits.logs.batch import Batch, Columns, LogSums
from hierbandits.logs.log import Log

__all__ = ["Batch", "Columns", "Log", "LogSums"]
