"""polars, which logs need and the rest of the package does without."""

from typing import Any

OLDEST_POLARS = (1, 37)  # earlier versions read a file that fails halfway as a shorter file


def polars_module() -> Any:
    """polars, if it is there and new enough."""
    try:
        import polars as pl
    except ImportError:
        raise ImportError("logs need polars: pip install 'hierbandits[data]'") from None
    if tuple(int(part) for part in pl.__version__.split(".")[:2]) < OLDEST_POLARS:
        oldest = ".".join(str(part) for part in OLDEST_POLARS)
        raise ImportError(f"logs need polars {oldest} or later, got {pl.__version__}")
    return pl
