"""The paper's experiments and our own, by name."""

from hierbandits.experiments import concurrency, digits, meta, similarity, synthetic
from hierbandits.experiments.experiment import Experiment, Options

EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": synthetic.EXPERIMENT,
    "similarity": similarity.EXPERIMENT,
    "concurrency": concurrency.EXPERIMENT,
    "meta": meta.EXPERIMENT,
    "digits": digits.EXPERIMENT,
}

__all__ = ["EXPERIMENTS", "Experiment", "Options"]
