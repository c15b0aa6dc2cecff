"""Eight clients of one server: no crash, flat memory, and rewards that are used at once.

PYTHONPATH=tests python -m tests.soak service_threads
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from support.busy_clients import BusyClients


def main(seconds: float) -> dict[str, float]:
    """Counts, times and memory; memory that grows by more than a tenth is an error."""
    with TemporaryDirectory() as folder:
        counts = BusyClients(Path(folder) / "data").run(seconds)
    first = counts["MB of the server after a quarter of the time"]
    assert counts["MB of the server at the end"] < 1.1 * first, counts
    return counts
