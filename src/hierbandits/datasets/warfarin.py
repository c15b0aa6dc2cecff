"""Which dose of warfarin the patients of 22 hospital sites needed."""

import csv
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.random import Generator

from hierbandits.logs import Columns, Log
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True, eq=False)
class Warfarin:
    """Sites are tasks, doses are arms; a patient is an event."""

    sites: tuple[str, ...]
    doses: tuple[str, ...]  # low: below 21 mg a week, medium: 21 to 49, high: above 49
    counts: Indices  # patients of each site that needed each dose, (sites, doses)
    attribution: str  # the source and its terms, to be kept with the counts

    def as_log(self, rng: Generator) -> Log:
        """A trial that gives each patient a dose at random, the patients in random order.

        The reward is 1 if the patient needed this dose, and otherwise 0.  Every dose has the same
        propensity.
        """
        import polars as pl

        site, need = np.nonzero(self.counts)
        patients = self.counts[site, need]
        order = rng.permutation(int(patients.sum()))
        site, need = np.repeat(site, patients)[order], np.repeat(need, patients)[order]
        given = rng.integers(0, len(self.doses), order.size)
        columns = {
            "patient": np.arange(order.size),
            "site": np.array(self.sites)[site],
            "dose": np.array(self.doses)[given],
            "reward": (given == need).astype(float),
            "propensity": np.full(order.size, 1 / len(self.doses)),
        }
        named = Columns(
            task="site", arm="dose", reward="reward", decision="patient", propensity="propensity"
        )
        return Log.read(pl.DataFrame(columns), named, arms=self.doses)


def warfarin() -> Warfarin:
    """The counts of the International Warfarin Pharmacogenetics Consortium: 6,037 patients."""
    folder = files("hierbandits.datasets")
    text = folder.joinpath("warfarin_site_dose_counts.csv").read_text(encoding="utf-8")
    (_, *doses), *rows = csv.reader(text.splitlines())
    counts = np.array([[int(cell) for cell in row[1:]] for row in rows])
    counts.setflags(write=False)
    attribution = folder.joinpath("warfarin_attribution.txt").read_text(encoding="utf-8")
    return Warfarin(tuple(row[0] for row in rows), tuple(doses), counts, attribution)
