"""The package and its peers on one workload, one thread, in the same run."""

from dataclasses import dataclass
from functools import partial
from inspect import getdoc

from bench.one_by_one import OneByOne
from bench.ours import Batched, OurAgent
from bench.peers import DOCUMENTED, available
from bench.timing import best
from bench.workload import Workload

BATCHED = "hierbandits, batched"
AGENT = "hierbandits, agent"
NUMPY_TS = "numpy TS"


@dataclass(frozen=True, slots=True)
class Contest:
    """Events per second of everyone, and why some peers are missing."""

    dim: int
    num_tasks: int
    events_per_second: dict[str, float]
    notes: dict[str, str]
    missing: dict[str, str]

    @property
    def rival(self) -> str | None:
        """The fastest library's learner of one task, by its documented calls."""
        present = [name for name in DOCUMENTED if name in self.events_per_second]
        return max(present, key=self.events_per_second.__getitem__, default=None)

    def ratio(self, ours: str, theirs: str) -> float:
        """How many times as many events we process as they do."""
        return self.events_per_second[ours] / self.events_per_second[theirs]


def contest(dim: int, num_tasks: int, times: int, seconds: float) -> Contest:
    """Everyone in turn, in repetitions of so many seconds."""
    workload = Workload.of(dim, num_tasks)
    peers, missing = available()
    notes = {BATCHED: _first_line(Batched), AGENT: _first_line(OurAgent)}
    repetitions = {
        BATCHED: partial(Batched(workload).microseconds, seconds),
        AGENT: partial(OneByOne(OurAgent(workload), workload).microseconds, seconds),
    }
    for name, make in peers.items():
        notes[name] = _first_line(make)
        peer = make(num_tasks, workload.arms, 0)
        repetitions[name] = partial(OneByOne(peer, workload).microseconds, seconds)
    costs = best(repetitions, times)
    speeds = {name: 1e6 / cost for name, cost in costs.items()}
    return Contest(dim, num_tasks, speeds, notes, missing)


def _first_line(thing: object) -> str:
    return (getdoc(thing) or "").partition("\n")[0].rstrip(".")
