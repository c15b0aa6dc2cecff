"""One look for every page, table, figure and progress bar; knows no bandit."""

from hierbandits.reporting.report import Report

__all__ = ["Report"]
