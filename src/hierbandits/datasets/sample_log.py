"""A messy log to try things on: 3,000 orders of 150 stores."""

from importlib.resources import files
from os import PathLike
from pathlib import Path

from hierbandits.atomic_write import atomic_write


def sample_log(path: str | PathLike[str]) -> Path:
    """Write the sample log to a CSV file that is not there yet, and return its path.

    A row is an order: its id, the store, the promotion, what the customer spent, the day, the
    probability with which the promotion was chosen, the customer's age and the size of the basket.
    No such stores exist: `python examples/messy_log.py` made the file, with seed 0.  It has the
    mess that exports have, for `hierbandits inspect` to find.
    """
    if not isinstance(path, str | PathLike):
        raise ValueError(f"path must be that of a new file, got {path!r:.80}")
    target = Path(path)
    with atomic_write(target, _check_new) as file:
        _check_new(target)
        file.write(files("hierbandits.datasets").joinpath("sample_log.csv").read_bytes())
    return target


def _check_new(path: Path) -> None:
    if path.exists():
        raise FileExistsError(f"path must be that of a new file, got {path}")
